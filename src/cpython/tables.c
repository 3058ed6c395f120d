/* tables.c: look-ups in dictionaries and sets that run no Python code (access.h: hash tables). The tables and the order
 * in which they are probed are CPython's own (Objects/dictobject.c, setobject.c), the same for every version so far. */
#include "cpython/internal.h"

enum { PERTURB_SHIFT = 5, LINEAR_PROBES = 9 };

/* 1: the stored key is `key`, 0: it is another, -1: telling would run Python code, or raised. */
static int same_key(PyObject* stored, Py_hash_t stored_hash, PyObject* key, Py_hash_t hash, int (*is_plain)(PyObject*)) {
  if (stored == key) return 1;
  if (stored_hash != hash) return 0;
  if (!is_plain(stored)) return -1;
  const int same = PyObject_RichCompareBool(stored, key, Py_EQ);
  if (same < 0) PyErr_Clear();
  return same;
}

static Py_ssize_t index_at(PyDictKeysObject* keys, size_t i) {
  const int log2_size = DK_LOG_SIZE(keys);
  if (log2_size < 8) return ((const int8_t*)keys->dk_indices)[i];
  if (log2_size < 16) return ((const int16_t*)keys->dk_indices)[i];
  if (log2_size < 32) return ((const int32_t*)keys->dk_indices)[i];
  return (Py_ssize_t)((const int64_t*)keys->dk_indices)[i];
}

int hl_dict_find(PyObject* dict, PyObject* key, Py_hash_t hash, int (*is_plain)(PyObject*), PyObject** stored,
                 PyObject** value) {
  PyDictObject* d = (PyDictObject*)dict;
  PyDictKeysObject* keys = d->ma_keys;
  *value = NULL;
  const int strings = DK_IS_UNICODE(keys);
  const size_t mask = (size_t)DK_SIZE(keys) - 1;
  size_t perturb = (size_t)hash;
  for (size_t i = (size_t)hash & mask;; perturb >>= PERTURB_SHIFT, i = (i * 5 + perturb + 1) & mask) {
    const Py_ssize_t at = index_at(keys, i);
    if (at == DKIX_EMPTY) return 0;
    if (at < 0) continue;
    int same;
    if (strings) {
      *stored = DK_UNICODE_ENTRIES(keys)[at].me_key;
      same = same_key(*stored, ((PyASCIIObject*)*stored)->hash, key, hash, is_plain);
    } else {
      PyDictKeyEntry* entry = &DK_ENTRIES(keys)[at];
      *stored = entry->me_key;
      same = same_key(entry->me_key, entry->me_hash, key, hash, is_plain);
    }
    if (same < 0) return -1;
    if (same == 0) continue;
    if (d->ma_values != NULL) return -1; /* the values are in an instance: left alone */
    *value = strings ? DK_UNICODE_ENTRIES(keys)[at].me_value : DK_ENTRIES(keys)[at].me_value;
    return *value != NULL ? 1 : 0;
  }
}

int hl_dict_set(PyObject* dict, PyObject* key, Py_hash_t hash, PyObject* value) {
  return _PyDict_SetItem_KnownHash(dict, key, value, hash);
}

int hl_set_find(PyObject* set, PyObject* key, Py_hash_t hash, int (*is_plain)(PyObject*), PyObject** stored) {
  PySetObject* s = (PySetObject*)set;
  const size_t mask = (size_t)s->mask;
  size_t perturb = (size_t)hash;
  for (size_t i = (size_t)hash & mask;; i = (i * 5 + 1 + perturb) & mask) {
    setentry* entry = &s->table[i];
    for (int probes = i + LINEAR_PROBES <= mask ? LINEAR_PROBES : 0; probes >= 0; --probes, ++entry) {
      if (entry->key == NULL && entry->hash == 0) return 0;
      if (entry->key == NULL || entry->hash != hash) continue;
      const int same = same_key(entry->key, entry->hash, key, hash, is_plain);
      *stored = entry->key;
      if (same != 0) return same;
    }
    perturb >>= PERTURB_SHIFT;
  }
}
