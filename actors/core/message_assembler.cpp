// SPDX-License-Identifier: MIT
#include "actors/core/message_assembler.hpp"

#include <string_view>

namespace riffle::core {

namespace {

// English text has some four bytes a token with the tokenizers of today.
constexpr std::uint64_t bytes_per_token = 4;

std::uint64_t estimate(std::uint64_t bytes) {
  return (bytes + bytes_per_token - 1) / bytes_per_token;
}

}  // namespace

void message_assembler::add(const turn_delta& x) {
  x.pieces.for_each([this](piece_kind kind, std::string_view text) {
    if (kind == piece_kind::reasoning) {
      reasoning_.append(text);
      return;
    }
    text_.append(text);
    if (kind == piece_kind::refusal) refusal_.append(text);
  });
  for (const auto& fragment : x.fragments)
    call_bytes_ +=
        fragment.id.size() + fragment.name.size() + fragment.arguments.size();
  if (!x.state.empty()) state_ = x.state;
  if (x.finish) finish_ = x.finish;
  if (x.usage) usage_ = x.usage;
  if (x.failure && !failure_) failure_ = x.failure;
  done_ = done_ || x.done;
}

token_usage message_assembler::usage() const {
  if (usage_) return *usage_;
  token_usage result;
  result.input_tokens = estimate(request_bytes_);
  result.output_tokens =
      estimate(text_.size() + reasoning_.size() + call_bytes_);
  result.estimated = true;
  return result;
}

}  // namespace riffle::core
