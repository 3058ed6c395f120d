// compile(): limits, asmjit's objects, relocation into executable memory. See x86.h.
#include "codegen/x86.h"

#include <utility>

#include "codegen/analysis.h"
#include "codegen/asmjit_compat.h"
#include "codegen/code_memory.h"
#include "codegen/emitter.h"

namespace hotloop::codegen {
namespace {

using base::RefusalReason;

constexpr size_t kMaxOps = 40000;
constexpr size_t kMaxRegisters = 4000;

class Code final : public CompiledCode {
 public:
  Code(CodeMemory memory, size_t size, std::string listing) : memory_(std::move(memory)), size_(size), listing_(std::move(listing)) {}
  ir::NativeFunction entry() const override { return reinterpret_cast<ir::NativeFunction>(memory_.data()); }
  size_t size() const override { return size_; }
  const std::string& listing() const override { return listing_; }

 private:
  CodeMemory memory_;
  size_t size_;
  std::string listing_;
};

// Keeps the first error; asmjit goes on after it, what it then writes is never used.
class FirstError final : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error error, const char* message, asmjit::BaseEmitter*) override {
    if (text.empty()) text = std::string(asmjit::DebugUtils::errorAsString(error)) + ": " + (message ? message : "");
  }
  std::string text;
};

Features host_features(Isa isa) {
  const asmjit::CpuInfo& cpu = asmjit::CpuInfo::host();
  const auto& have = cpu.features().x86();
  Features features;
  if (isa == Isa::kSse2) return features;
  features.sse41 = have.hasSSE4_1();
  features.avx = have.hasAVX();
  features.f16c = features.avx && have.hasF16C();
  features.bmi2 = have.hasBMI2() && (isa == Isa::kNative || isa >= Isa::kAvx2) && isa != Isa::kAvx;
  return features;
}

base::Refusal failed(const ir::Function& function, std::string detail) {
  return base::refuse(RefusalReason::kCodegenFailed, function.line, std::move(detail));
}

}  // namespace

base::Result<std::unique_ptr<CompiledCode>> compile(const ir::Function& function, const ir::HelperTable& helpers,
                                                    const CodegenOptions& options) {
  size_t ops = 0;
  ir::for_each_op(*function.body, [&](ir::Op&, ir::Block&) { ++ops; });
  if (ops > kMaxOps) return base::refuse(RefusalReason::kTooLarge, function.line, std::to_string(ops) + " operations");

  EmitterOptions emitter_options;
  emitter_options.features = host_features(options.isa);
  emitter_options.force_exits = options.force_exits;
  emitter_options.comments = options.want_asm;
  Analysis analysis = analyze(function, emitter_options.features);
  if (analysis.registers.size() > kMaxRegisters) {
    return base::refuse(RefusalReason::kTooLarge, function.line, std::to_string(analysis.registers.size()) + " values alive at once");
  }

  link_without_verification();
  FirstError error;
  asmjit::CodeHolder holder;
  asmjit::StringLogger logger;
  if (holder.init(asmjit::Environment::host()) != asmjit::kErrorOk) return failed(function, "asmjit cannot start");
  holder.setErrorHandler(&error);
  if (options.want_asm) {
    logger.setFlags(asmjit::FormatFlags::kHexOffsets);
    holder.setLogger(&logger);
  }
  asmjit::x86::Compiler compiler(&holder);
  compiler.addEncodingOptions(asmjit::EncodingOptions::kOptimizedAlign);  // long nops in front of loops, not one for each byte
  if (options.validate) {
    compiler.addDiagnosticOptions(asmjit::DiagnosticOptions::kValidateAssembler | asmjit::DiagnosticOptions::kValidateIntermediate);
  }
  Emitter emitter(compiler, function, analysis, helpers, emitter_options);
  bool emitted = emitter.emit_function();
  if (!error.text.empty()) return failed(function, error.text);
  if (!emitted) return failed(function, emitter.problem());
  compiler.finalize();
  if (!error.text.empty()) {
    if (!options.want_asm) return failed(function, error.text);
    asmjit::String nodes;
    asmjit::Formatter::formatNodeList(nodes, asmjit::FormatOptions(), &compiler);
    return failed(function, error.text + "\n" + nodes.data());
  }
  holder.flatten();
  holder.resolveUnresolvedLinks();
  CodeMemory memory = CodeMemory::reserve(holder.codeSize());
  if (!memory.data()) return base::refuse(RefusalReason::kCodeMemory, function.line);
  if (holder.relocateToBase(reinterpret_cast<uint64_t>(memory.data())) != asmjit::kErrorOk ||
      holder.copyFlattenedData(memory.data(), memory.size()) != asmjit::kErrorOk || !error.text.empty()) {
    return failed(function, "relocation failed " + error.text);
  }
  if (!memory.make_executable()) return base::refuse(RefusalReason::kCodeMemory, function.line);
  std::string listing;
  if (options.want_asm) listing.assign(logger.data(), logger.dataSize());
  return std::unique_ptr<CompiledCode>(new Code(std::move(memory), holder.codeSize(), std::move(listing)));
}

}  // namespace hotloop::codegen
