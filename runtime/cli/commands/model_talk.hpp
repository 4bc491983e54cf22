// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "runtime/base/timer.hpp"
#include "runtime/service/model_asking.hpp"
#include "runtime/service/model_links.hpp"

namespace riffle::cli {

/// What models are asked with, apart from any runtime.
struct model_talk {
  explicit model_talk(std::shared_ptr<const config::config> settings)
      : links{{std::move(settings), clock, waits, {}, nullptr, {}}} {}

  std::shared_ptr<timer> clock = std::make_shared<thread_timer>();
  std::shared_ptr<executor> waits = std::make_shared<blocking_executor>(1);
  service::model_links links;
};

/// For people: what works with a model, a line each.
std::string model_report_text(const std::string& name,
                              const service::model_report& x);

}  // namespace riffle::cli
