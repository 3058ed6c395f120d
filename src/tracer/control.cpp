// enable(), disable() and what belongs to them: the runtime object, options, forced exits, the dictionary watcher.
//
// Needs everything in runtime.h. Promises (T32): disable() clears the local events of every code object that was armed, the global events and the
// callbacks, then frees the tool id; enable() after it goes on with the code that was compiled before; a failed enable() leaves nothing behind.
#include <cstdlib>

#include "base/log.h"
#include "runtime/numpy_import.h"
#include "tracer/leaving.h"
#include "tracer/next_item.h"

namespace hotloop::tracer {
namespace {

Runtime* the_runtime = nullptr;  // the one runtime object; made by start(), never destroyed

// A code object is freed: its loops and regions go with it.
void free_code_info(void* extra) {
  auto* info = static_cast<CodeInfo*>(extra);
  if (info == nullptr) return;
  Runtime& rt = runtime();
  if (info->next != nullptr) info->next->previous = info->previous;
  (info->previous != nullptr ? info->previous->next : rt.codes) = info->next;
  for (auto& loop : info->loops) drop_regions(rt, *loop);
  if (rt.last_info == info) {
    rt.last_code = nullptr;
    rt.last_info = nullptr;
  }
  delete info;
}

int on_dict_event(PyDict_WatchEvent event, PyObject* dict, PyObject* key, PyObject*) {
  Runtime& rt = runtime();
  switch (event) {
    case PyDict_EVENT_ADDED:
    case PyDict_EVENT_MODIFIED:
    case PyDict_EVENT_DELETED:
      if (!rt.watch_all_names && key != nullptr && PyUnicode_CheckExact(key) && PyUnicode_CHECK_INTERNED(key) &&
          !rt.watched_names.contains(key)) {
        return 0;
      }
      break;
    case PyDict_EVENT_DEALLOCATED: forget_dict(rt, dict); break;
    default: break;
  }
  ++rt.namespace_epoch;
  return 0;
}

PyMethodDef kCallbacks[] = {
    {"on_start", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(on_start)), METH_FASTCALL, nullptr},
    {"on_jump", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(on_jump)), METH_FASTCALL, nullptr},
    {"on_instruction", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(on_instruction)), METH_FASTCALL, nullptr},
    {"on_call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(on_call)), METH_FASTCALL, nullptr},
};

bool set_callback(Runtime& rt, int event, PyMethodDef* method) {
  PyObject* function = PyCFunction_New(method, nullptr);
  if (function == nullptr) return false;
  const bool good = hl_monitor_set_callback(&rt.monitor, event, function) == 0;
  Py_DECREF(function);
  return good;
}

bool set_callbacks(Runtime& rt) {
  return set_callback(rt, HL_EVENT_PY_START, &kCallbacks[0]) && set_callback(rt, HL_EVENT_PY_RESUME, &kCallbacks[0]) &&
         set_callback(rt, HL_EVENT_JUMP, &kCallbacks[1]) && set_callback(rt, HL_EVENT_INSTRUCTION, &kCallbacks[2]) &&
         set_callback(rt, HL_EVENT_CALL, &kCallbacks[3]);
}

bool check_surroundings(PyThreadState* ts) {
  if (!hl_is_main_interpreter(ts)) {
    PyErr_SetString(PyExc_RuntimeError, "hotloop works in the main interpreter only");
    return false;
  }
  char error[256] = "";
  if (hl_self_check(error, sizeof error) < 0) {
    PyErr_Format(PyExc_RuntimeError, "hotloop does not work with this Python: %s", error);
    return false;
  }
  return true;
}

uint64_t next_random(uint64_t* state) {  // SplitMix64 (Steele, Lea, Flood 2014)
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

Runtime& runtime() { return *the_runtime; }

void next_forced_exit(Runtime& rt) {
  // 1 .. 2K-1: K on average.
  rt.force_countdown = rt.force_step == 0 ? INT64_MAX : static_cast<int64_t>(next_random(&rt.force_state) % (2 * rt.force_step - 1)) + 1;
}

void options_changed(Runtime& rt) {
  base::set_log_mask(base::log_mask(rt.options.log));
  const base::SeedStep step = base::parse_seed_step(rt.options.force_exit);
  if (step.step != rt.force_step || step.step != 0) {
    rt.force_state = step.seed;
    rt.force_step = step.step;
    next_forced_exit(rt);
  }
  for (CodeInfo* info = rt.codes; info != nullptr; info = info->next) {
    for (auto& loop : info->loops) {
      if (loop->regions.empty() && loop->attempts == 0) loop->threshold = first_threshold(rt, *loop);
    }
  }
}

bool start(Runtime& rt) {
  rt.code_extra = PyUnstable_Eval_RequestCodeExtraIndex(free_code_info);
  if (rt.code_extra < 0) {
    PyErr_SetString(PyExc_ImportError, "hotloop: the interpreter has no room for data on code objects");
    return false;
  }
  for (const std::string& line : base::load_environment(rt.options, [](const char* name) -> const char* { return std::getenv(name); })) {
    PySys_FormatStderr("hotloop: %s\n", line.c_str());
  }
  options_changed(rt);
  return true;
}

bool enable(Runtime& rt) {
  if (rt.enabled && hl_monitor_is_ours(&rt.monitor)) return true;
  if (rt.enabled) disable(rt);
  PyThreadState* ts = PyThreadState_Get();
  if (!check_surroundings(ts) || !runtime::import_numpy() || !rt.errstate.start()) return false;
  if (rt.ended_iterator == nullptr) {
    PyObject* nothing = PyTuple_New(0);
    rt.ended_iterator = nothing != nullptr ? PyObject_GetIter(nothing) : nullptr;
    Py_XDECREF(nothing);
    if (rt.ended_iterator == nullptr) return false;
  }
  runtime::set_run(&run_instruction, &next_item);
  if (rt.dict_watcher < 0) {
    rt.dict_watcher = PyDict_AddWatcher(on_dict_event);
    PyErr_Clear();  // all ids taken: namespaces are then checked at every entry
  }
  if (hl_monitor_claim(&rt.monitor) < 0) return false;
  if (!set_callbacks(rt) || hl_monitor_set_global(&rt.monitor, HL_EVENT_PY_START | HL_EVENT_PY_RESUME) < 0) {
    hl_monitor_release(&rt.monitor);
    return false;
  }
  rt.enabled = true;
  arm_running_frames(rt);
  return true;
}

void disable(Runtime& rt) {
  if (!rt.enabled) return;
  rt.enabled = false;
  if (rt.session.number != 0) end_session(rt);
  const bool ours = hl_monitor_is_ours(&rt.monitor);
  for (CodeInfo* info = rt.codes; info != nullptr; info = info->next) {
    info->may_sleep = info->sleeping = false;
    if (ours) {
      set_events(rt, info, 0);
    } else {
      info->events = 0;
    }
  }
  hl_monitor_release(&rt.monitor);
}

void make_runtime() {
  if (the_runtime == nullptr) the_runtime = new Runtime;
}

}  // namespace hotloop::tracer
