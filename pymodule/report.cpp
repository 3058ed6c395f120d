// stats() and regions(): what hotloop did, as dicts.
// Needs tracer/runtime.h. Promises: keys of stats() are the rows of stats.def, "refusals", "exit_kinds" and "forced_exit_kinds"; regions() has one dict per compiled version of a loop,
// or one per loop without a version.
#include <algorithm>
#include <string>

#include "ir/text.h"
#include "module.h"
#include "tracer/runtime.h"

namespace hotloop::pymodule {
namespace {

using tracer::Loop;
using tracer::Region;

bool put(PyObject* dict, const char* key, PyObject* value) {
  if (value == nullptr) return false;
  const bool good = PyDict_SetItemString(dict, key, value) == 0;
  Py_DECREF(value);
  return good;
}

PyObject* text(const std::string& s) { return PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace"); }

// Adds what is known of the loop itself. False with an exception.
bool put_loop(PyObject* dict, Loop& loop) {
  PyCodeObject* code = loop.info->code;
  return put(dict, "code", Py_NewRef(reinterpret_cast<PyObject*>(code))) && put(dict, "name", Py_NewRef(code->co_qualname)) &&
         put(dict, "file", Py_NewRef(code->co_filename)) && put(dict, "line", PyLong_FromLong(tracer::line_of_loop(loop))) &&
         put(dict, "header_unit", PyLong_FromLong(loop.header)) &&
         put(dict, "trips", PyLong_FromUnsignedLongLong(loop.total));
}

bool put_refusal(PyObject* dict, const Loop& loop) {
  if (loop.refusal == nullptr) return true;
  const base::RefusalInfo& info = base::refusal_info(loop.refusal->reason);
  return put(dict, "refusal", text(info.name)) && put(dict, "reason", text(loop.refusal->message())) &&
         put(dict, "reason_line", PyLong_FromLong(loop.refusal->line)) && put(dict, "advice", text(info.advice));
}

// "left": what the interpreter's own functions do in the middle of the region, and why.
bool put_left(PyObject* dict, const Region& region) {
  PyObject* list = PyList_New(0);
  bool good = list != nullptr;
  for (const base::Refusal& why : region.function->left) {
    const base::RefusalInfo& info = base::refusal_info(why.reason);
    PyObject* one = good ? PyDict_New() : nullptr;
    good = one != nullptr && put(one, "refusal", text(info.name)) && put(one, "reason", text(why.message())) &&
           put(one, "reason_line", PyLong_FromLong(why.line)) && put(one, "advice", text(info.advice)) && PyList_Append(list, one) == 0;
    Py_XDECREF(one);
  }
  if (!good) Py_CLEAR(list);
  return put(dict, "left", list);
}

bool put_exits(PyObject* dict, const Region& region) {
  uint64_t total = 0;
  PyObject* reasons = PyDict_New();
  if (reasons == nullptr) return false;
  for (int reason = 0; reason < ir::kExitReasonCount; ++reason) {
    uint64_t count = 0;
    for (size_t k = 0; k < region.exits.size(); ++k) {
      if (region.exits[k].reason == static_cast<ir::ExitReason>(reason)) count += region.exit_states[k].count;
    }
    if (count == 0) continue;
    total += count;
    const std::string name(ir::exit_reason_name(static_cast<ir::ExitReason>(reason)));
    if (!put(reasons, name.c_str(), PyLong_FromUnsignedLongLong(count))) {
      Py_DECREF(reasons);
      return false;
    }
  }
  return put(dict, "exits_by_reason", reasons) && put(dict, "exits", PyLong_FromUnsignedLongLong(total));
}

bool put_region(PyObject* dict, Region& region) {
  return put(dict, "status", text("compiled")) && put(dict, "entries", PyLong_FromUnsignedLongLong(region.entries)) && put_exits(dict, region) && put_left(dict, region) &&
         put(dict, "ir", text(ir::print(*region.function))) && put(dict, "asm", text(tracer::assembly_of(tracer::runtime(), region))) &&
         put(dict, "code_bytes", PyLong_FromSize_t(region.code != nullptr ? region.code->size() : 0)) &&
         put(dict, "compile_seconds", PyFloat_FromDouble(region.compile_seconds));
}

const char* status_of(const Loop& loop) {
  if (tracer::runtime().session.loop == &loop) return "being recorded";
  if (loop.refusal != nullptr) return "refused";
  if (loop.state == tracer::LoopState::kDead) return "disabled";
  return "not hot yet";
}

bool append(PyObject* list, Loop& loop, Region* region) {
  PyObject* dict = PyDict_New();
  if (dict == nullptr) return false;
  bool good = put_loop(dict, loop);
  if (region != nullptr) {
    good = good && put_region(dict, *region) && put_refusal(dict, loop);
  } else {
    good = good && put(dict, "status", text(status_of(loop))) && put_refusal(dict, loop);
  }
  good = good && PyList_Append(list, dict) == 0;
  Py_DECREF(dict);
  return good;
}

bool append_code(PyObject* list, const tracer::CodeInfo& info, bool all) {
  for (const auto& loop : info.loops) {
    const bool notable = loop->refusal != nullptr || loop->state == tracer::LoopState::kDead || tracer::runtime().session.loop == loop.get();
    if (loop->regions.empty() && loop->seen && (all || notable) && !append(list, *loop, nullptr)) return false;
    for (Region* region : loop->regions) {
      if (!append(list, *loop, region)) return false;
    }
  }
  return true;
}

}  // namespace

// {"Overflow addo": 3, ...}: exits taken, by reason and operation. Null with an exception.
PyObject* exit_kinds(bool forced) {
  tracer::Runtime& rt = tracer::runtime();
  PyObject* dict = PyDict_New();
  bool good = dict != nullptr;
  for (int reason = 0; reason < ir::kExitReasonCount; ++reason) {
    for (int op = 0; good && op < ir::kOpCount; ++op) {
      const uint64_t count = rt.exit_counts.of(static_cast<ir::ExitReason>(reason), static_cast<ir::OpCode>(op), forced);
      if (count == 0) continue;
      const std::string name = std::string(ir::exit_reason_name(static_cast<ir::ExitReason>(reason))) + " " +
                               std::string(ir::op_info(static_cast<ir::OpCode>(op)).text);
      good = put(dict, name.c_str(), PyLong_FromUnsignedLongLong(count));
    }
  }
  if (!good) Py_CLEAR(dict);
  return dict;
}

PyObject* stats(PyObject*, PyObject*) {
  const base::Stats& stats = tracer::runtime().stats;
  PyObject* dict = PyDict_New();
  PyObject* refusals = PyDict_New();
  bool good = dict != nullptr && refusals != nullptr;
  base::for_each_stat(
      stats, [&](const char* name, uint64_t value, const char*) { good = good && put(dict, name, PyLong_FromUnsignedLongLong(value)); },
      [&](const char* name, uint64_t ns, const char*) { good = good && put(dict, name, PyFloat_FromDouble(static_cast<double>(ns) * 1e-9)); });
  for (size_t k = 0; good && k < base::kRefusalCount; ++k) {
    if (stats.refusals[k] != 0) good = put(refusals, base::kRefusals[k].name, PyLong_FromUnsignedLongLong(stats.refusals[k]));
  }
  good = good && put(dict, "refusals", Py_NewRef(refusals)) && put(dict, "exit_kinds", exit_kinds(false)) &&
         put(dict, "forced_exit_kinds", exit_kinds(true));
  Py_XDECREF(refusals);
  if (!good) Py_CLEAR(dict);
  return dict;
}

PyObject* regions(PyObject*, PyObject* args) {
  PyObject* code = Py_None;
  if (!PyArg_ParseTuple(args, "|O:regions", &code)) return nullptr;
  if (code != Py_None && !PyCode_Check(code)) {
    PyErr_SetString(PyExc_TypeError, "regions: expected a code object or None");
    return nullptr;
  }
  tracer::Runtime& rt = tracer::runtime();
  PyObject* list = PyList_New(0);
  bool good = list != nullptr;
  for (const tracer::CodeInfo* info = rt.codes; good && info != nullptr; info = info->next) {
    if (code == Py_None || reinterpret_cast<PyObject*>(info->code) == code) good = append_code(list, *info, code != Py_None);
  }
  if (!good) Py_CLEAR(list);
  return list;
}

}  // namespace hotloop::pymodule
