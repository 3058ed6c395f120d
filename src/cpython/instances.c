/* instances.c: attributes of instances of ordinary classes, read where they lie (access.h: instances). Same for every
 * version; where the values of an instance are is in v31N.h. */
#include "cpython/internal.h"

int hl_type_is_plain(PyTypeObject* type) {
  if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) return 0;
  if (type->tp_getattro != PyObject_GenericGetAttr || type->tp_setattro != PyObject_GenericSetAttr) return 0;
  /* A dictionary in a place of its own (some types written in C): not looked into. */
  return type->tp_dictoffset == 0 || (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) != 0;
}

uint32_t hl_type_version(PyTypeObject* type) {
  return PyUnstable_Type_AssignVersionTag(type) ? type->tp_version_tag : 0;
}

int hl_type_has_version(PyTypeObject* type, uint32_t version) {
  return version != 0 && type->tp_version_tag == version;
}

PyObject* hl_type_lookup(PyTypeObject* type, PyObject* name) {
  return _PyType_Lookup(type, name);
}

/* Nearly always the key is the very same interned string. */
static int find_key(PyDictKeysObject* keys, PyObject* name, int hint) {
  PyDictUnicodeEntry* entries = DK_UNICODE_ENTRIES(keys);
  int n = (int)keys->dk_nentries;
  if (hint >= 0 && hint < n && entries[hint].me_key == name) return hint;
  for (int i = 0; i < n; i++)
    if (entries[i].me_key == name) return i;
  for (int i = 0; i < n; i++) {
    PyObject* key = entries[i].me_key;
    if (key != NULL && (!PyUnicode_CHECK_INTERNED(key) || !PyUnicode_CHECK_INTERNED(name)) && PyUnicode_Compare(key, name) == 0) return i;
  }
  return -1;
}

int hl_instance_get(PyObject* o, PyObject* name, int* hint, PyObject** value) {
  PyTypeObject* type = Py_TYPE(o);
  *value = NULL;
  if (!(type->tp_flags & Py_TPFLAGS_MANAGED_DICT)) return 0;
  PyObject* dict;
  PyObject** values = hlv_instance_values(o, &dict);
  if (values != NULL) {
    PyDictKeysObject* keys = ((PyHeapTypeObject*)type)->ht_cached_keys;
    int i = keys != NULL ? find_key(keys, name, *hint) : -1;
    if (i < 0) return 0;
    *hint = i;
    *value = values[i];
    return *value != NULL;
  }
  if (dict == NULL) return 0;
  /* Other keys than strings could run Python when they are compared. */
  if (!PyDict_CheckExact(dict) || !DK_IS_UNICODE(((PyDictObject*)dict)->ma_keys)) return -1;
  *value = PyDict_GetItemWithError(dict, name);
  return *value != NULL;
}

PyObject* hl_instance_dict(PyObject* o) {
  if (!(Py_TYPE(o)->tp_flags & Py_TPFLAGS_MANAGED_DICT)) return NULL;
  PyObject* dict;
  hlv_instance_values(o, &dict);
  return dict;
}

uint32_t hl_slot_offset(PyObject* descriptor) {
  if (Py_TYPE(descriptor) != &PyMemberDescr_Type) return 0;
  const PyMemberDef* member = ((PyMemberDescrObject*)descriptor)->d_member;
  if (member->type != Py_T_OBJECT_EX || (member->flags & (Py_READONLY | Py_RELATIVE_OFFSET)) != 0 || member->offset <= 0) return 0;
  return (uint32_t)member->offset;
}
