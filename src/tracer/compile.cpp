// From a complete recording to a region: record, verify, optimise, enumerate exits, emit; logs, dumps, times, fuel.
//
// Needs record.h, optimizer/pipeline.h, codegen/x86.h. Promises: every failure is a named refusal of the loop, counted and shown; the interpreter just
// goes on.
#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "optimizer/pipeline.h"
#include "runtime/numpy_import.h"
#include "tracer/record.h"
#include "tracer/runtime.h"

namespace hotloop::tracer {
namespace {

using base::RefusalReason;

codegen::CodegenOptions codegen_options(const Runtime& rt, bool want_asm) {
  codegen::CodegenOptions options;
  const std::string& isa = rt.options.isa;
  options.isa = isa == "sse2"     ? codegen::Isa::kSse2
                : isa == "avx"    ? codegen::Isa::kAvx
                : isa == "avx2"   ? codegen::Isa::kAvx2
                : isa == "avx512" ? codegen::Isa::kAvx512
                                  : codegen::Isa::kNative;
  options.force_exits = rt.force_step != 0;
  options.want_asm = want_asm;
  options.validate = rt.options.verify;
  return options;
}

// HOTLOOP_DUMP: DIR/0001-name-LINE.what
void dump(const Runtime& rt, const ir::Function& function, const char* what, const std::string& text) {
  if (rt.options.dump.empty()) return;
  std::string safe;
  for (char c : function.name) safe += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ? c : '_';
  char number[16];
  std::snprintf(number, sizeof number, "%04llu", static_cast<unsigned long long>(rt.stats.compiled + 1));
  const std::string path = rt.options.dump + "/" + number + "-" + safe + "-" + std::to_string(function.line) + "." + what;
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return;
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

void show(const Runtime& rt, base::LogChannel channel, const ir::Function& function, const char* what, const std::string& text) {
  if (base::log_enabled(channel)) base::log_text(channel, text);
  dump(rt, function, what, text);
}

bool wanted(const Runtime& rt, base::LogChannel channel) { return base::log_enabled(channel) || !rt.options.dump.empty(); }

base::Result<bool> optimize(Runtime& rt, ir::Function& function, bool hoist_guards) {
  if (wanted(rt, base::LogChannel::kIr)) show(rt, base::LogChannel::kIr, function, "recorded.ir", ir::print(function));
  if (rt.options.verify) {
    std::string broken = ir::verify(function);
    if (!broken.empty()) return base::refuse(RefusalReason::kVerifierFailed, function.line, "recorder: " + broken);
  }
  optimizer::PipelineOptions options;
  options.verify = rt.options.verify;
  options.hoist_guards = hoist_guards;
  base::Result<bool> done = optimizer::optimize(function, options);
  if (!done) return done;
  if (wanted(rt, base::LogChannel::kOpt)) show(rt, base::LogChannel::kOpt, function, "optimized.ir", ir::print(function));
  return done;
}

// The region made of the recorded function, which is given back to `recorded` (to release its objects) where that fails.
base::Result<Region*> build(Runtime& rt, std::unique_ptr<ir::Function>& recorded, HlFrame* frame, bool hoist_guards) {
  base::Result<bool> optimized = optimize(rt, *recorded, hoist_guards);
  if (!optimized) return optimized.refusal();
  std::vector<ir::ExitInfo> exits = ir::enumerate_exits(*recorded);
  for (const ir::ExitInfo& exit : exits) {
    if (exit.snapshot == ir::kNoSnapshot || recorded->snapshots[exit.snapshot].frames.empty()) {
      return base::refuse(RefusalReason::kVerifierFailed, exit.op->line, "an exit without a snapshot");
    }
  }
  std::unique_ptr<codegen::CompiledCode> code;
  std::string listing;
  if (rt.options.backend != "evaluator") {
    const bool want_asm = wanted(rt, base::LogChannel::kAsm);
    auto compiled = codegen::compile(*recorded, runtime::helper_table(), codegen_options(rt, want_asm));
    if (!compiled) return compiled.refusal();
    code = std::move(*compiled);
    rt.stats.code_bytes += code->size();
    if (want_asm) {
      listing = code->listing();
      show(rt, base::LogChannel::kAsm, *recorded, "asm", listing);
    }
  }
  Region* region = make_region(rt, std::move(recorded), std::move(exits), std::move(code), frame);
  region->asm_listing = std::move(listing);
  ++rt.stats.compiled;
  return region;
}

base::Result<Region*> record_and_build(Runtime& rt, PyThreadState* ts, HlFrame* frame, const Loop& loop, const Observations& observations) {
  if (rt.options.fuel >= 0 && rt.stats.compiled >= static_cast<uint64_t>(rt.options.fuel)) {
    return base::refuse(RefusalReason::kFuelSpent, loop.line);
  }
  RecordRequest request;
  request.thread = ts;
  request.frame = frame;
  request.code = loop.info->code;
  request.header_unit = loop.header;
  request.observations = &observations;
  request.helpers = &runtime::helper_table();
  request.options = &rt.options;
  // A second version is made because the first one's types did not fit: types that do not matter are not asked for any more.
  request.any_dead_type = loop.regions.size() > (rt.session.replaces != nullptr ? 1u : 0u);
  request.any_step = loop.any_step;
  auto recorded = record_region(request);
  PyErr_Clear();
  if (!recorded) return recorded.refusal();
  std::unique_ptr<ir::Function> function = std::move(*recorded);
  const uint64_t begin = now_ns();
  auto region = build(rt, function, frame, !loop.no_hoist);
  const uint64_t spent = now_ns() - begin;
  rt.stats.compile_seconds_ns += spent;
  if (!region && function != nullptr) release_objects(*function);
  if (region) (*region)->compile_seconds = static_cast<double>(spent) * 1e-9;
  return region;
}

void install(Runtime& rt, Loop& loop, Region* region, Region* replaced, HlFrame* frame) {
  region->loop = &loop;
  const uint64_t growth = first_growth(rt, loop);
  for (size_t k = 0; k < region->exits.size(); ++k) {
    switch (region->exits[k].reason) {
      case ir::ExitReason::Path:
      case ir::ExitReason::TypeChange:
      case ir::ExitReason::ZeroTrip:
      case ir::ExitReason::Unsupported: region->exit_states[k].grow_at = growth; break;
      default: region->exit_states[k].grow_at = UINT64_MAX;
    }
  }
  if (replaced != nullptr && std::find(loop.regions.begin(), loop.regions.end(), replaced) != loop.regions.end()) {
    region->entries = replaced->entries;
    drop_region(rt, loop, replaced);
  }
  loop.regions.insert(loop.regions.begin(), region);
  loop.state = LoopState::kCompiled;
  loop.refusal.reset();
  loop.attempts = 0;
  loop.count = 0;
  // Back edges that no version fits are counted on: other types get a version of their own, sooner than the first did.
  loop.threshold = std::max<uint32_t>(2, static_cast<uint32_t>(std::min<int64_t>(rt.options.threshold, INT32_MAX)) / 16);
  hurry_outer(rt, loop, frame);
  keep_warm(rt, loop.info);
}

}  // namespace

uint64_t first_growth(const Runtime& rt, const Loop& loop) {
  const uint64_t base = std::max<uint64_t>(2, std::min<uint64_t>(50, static_cast<uint64_t>(rt.options.threshold) / 20));
  return base << std::min<uint32_t>(loop.growths, 8);
}

// A loop that was entered is compiled as a loop, even if none of the few watched entries came round to its back edge.
void mark_back_edges(Runtime& rt, Session& session) {
  for (CodeInfo* info : session.watched) {
    CodeObservation& seen = session.observations.codes[info->code];
    find_loop(rt, info, -1);  // finds the loops of the code, if that is still to be done
    for (auto& loop : info->loops) {
      HlInstr header;
      if (hl_decode(info->code, loop->header, &header) < 0) {
        PyErr_Clear();
      } else if (seen.hit(header.op_unit)) {
        seen.mark(loop->last_jump);
      }
    }
  }
}

bool finish_session(Runtime& rt, PyThreadState* ts, HlFrame* frame) {
  Session& session = rt.session;
  Loop& loop = *session.loop;
  const bool growth = session.growth;
  rt.compiling = true;
  mark_back_edges(rt, session);
  auto region = record_and_build(rt, ts, frame, loop, session.observations);
  Region* replaced = session.replaces;
  session.replaces = nullptr;
  if (region) {
    for (auto& [code, seen] : session.observations.codes) {
      CodeInfo* info = find_code(rt, code);
      if (info == nullptr) continue;
      info->known_paths.add_hits(seen);
      info->has_known_paths = true;
    }
    install(rt, loop, *region, replaced, frame);
    HOTLOOP_LOG(kHot, "line %d: compiled, %zu exits, %.3f ms", loop.line, (*region)->exits.size(), (*region)->compile_seconds * 1e3);
    for (const base::Refusal& why : (*region)->function->left) rt.stats.count_refusal(why.reason);
  } else if (growth && !loop.regions.empty()) {
    rt.stats.count_refusal(region.refusal().reason);
    HOTLOOP_LOG(kRefuse, "line %d: not made again: %s", loop.line, region.refusal().message().c_str());
    for (Region* old : loop.regions) {
      for (ExitState& state : old->exit_states) state.grow_at = state.grow_at == UINT64_MAX ? UINT64_MAX : state.grow_at * 16;
    }
  } else {
    loop_refused(rt, loop, region.refusal());
  }
  rt.stats.record_seconds_ns += now_ns() - session.started_ns;
  end_session(rt);
  rt.compiling = false;
  return region.ok();
}

std::string assembly_of(Runtime& rt, Region& region) {
  if (!region.asm_listing.empty() || rt.options.backend == "evaluator") return region.asm_listing;
  auto compiled = codegen::compile(*region.function, runtime::helper_table(), codegen_options(rt, true));
  if (compiled) region.asm_listing = (*compiled)->listing();
  return region.asm_listing;
}

}  // namespace hotloop::tracer
