// SPDX-License-Identifier: MIT
#pragma once

// What is measured (runtime/base/metrics.hpp), as Prometheus reads it.

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/metrics.hpp"

namespace riffle::http {

/// A number that is looked at when somebody asks.
struct gauge {
  std::string name;  ///< "riffle_streams"
  std::string help;
  std::function<double()> value;
};

/// Thread-safe.
class exporter final : public metric_reader {
 public:
  explicit exporter(std::vector<gauge> gauges);
  ~exporter() override;

  void on(const metric_about& what, double value,
          std::initializer_list<metric_label> labels) noexcept override;

  /// The text format, version 0.0.4. Names as OpenTelemetry's exporters write
  /// them: dots become underscores, the unit stands behind.
  [[nodiscard]] std::string text() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace riffle::http
