// SPDX-License-Identifier: MIT
#include "runtime/api/riffle.hpp"
#include "runtime/api/runtime_impl.hpp"

namespace riffle {

std::vector<server_prompt> runtime::prompts(std::vector<std::string>& problems,
                                            const std::stop_token& stop) {
  return impl_->uses->prompts.list(problems, stop);
}

expected<std::string> runtime::prompt(const std::string& name,
                                      const std::string& words,
                                      const std::stop_token& stop) {
  return impl_->uses->prompts.text(name, words, stop);
}

}  // namespace riffle
