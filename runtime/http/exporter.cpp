// SPDX-License-Identifier: MIT
#include "runtime/http/exporter.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace riffle::http {

namespace {

std::string plain(std::string_view name) {
  std::string out{name};
  std::ranges::replace(out, '.', '_');
  return out;
}

std::string name_of(const metric_about& x) {
  auto out = plain(x.name);
  if (x.unit == "s") out += "_seconds";
  return out + (x.kind == metric_kind::counter ? "_total" : "");
}

/// OpenTelemetry's, for durations of generative AI and for tokens.
prometheus::Histogram::BucketBoundaries buckets_of(const metric_about& x) {
  constexpr double first = 0.01;
  constexpr std::size_t doublings = 16;
  prometheus::Histogram::BucketBoundaries out;
  const bool seconds = x.unit == "s";
  double at = seconds ? first : 1;
  for (std::size_t i = 0; i < (seconds ? doublings : doublings - 2); ++i) {
    out.push_back(at);
    at *= seconds ? 2 : 4;
  }
  return out;
}

}  // namespace

struct exporter::impl {
  prometheus::Registry registry;
  std::array<prometheus::Family<prometheus::Histogram>*, metric_count>
      histograms{};
  std::array<prometheus::Family<prometheus::Counter>*, metric_count> counters{};
  std::vector<std::pair<prometheus::Gauge*, std::function<double()>>> gauges;
};

exporter::exporter(std::vector<gauge> gauges)
    : impl_{std::make_unique<impl>()} {
  for (const auto& x : metrics_table()) {
    const auto i = static_cast<std::size_t>(x.what);
    const auto name = name_of(x);
    const std::string help{x.description};
    if (x.kind == metric_kind::histogram)
      impl_->histograms[i] =
          &prometheus::BuildHistogram().Name(name).Help(help).Register(
              impl_->registry);
    else
      impl_->counters[i] =
          &prometheus::BuildCounter().Name(name).Help(help).Register(
              impl_->registry);
  }
  for (auto& x : gauges) {
    auto& family = prometheus::BuildGauge().Name(x.name).Help(x.help).Register(
        impl_->registry);
    impl_->gauges.emplace_back(&family.Add({}), std::move(x.value));
  }
}

exporter::~exporter() = default;

void exporter::on(const metric_about& what, double value,
                  std::initializer_list<metric_label> labels) noexcept {
  try {
    std::map<std::string, std::string> named;
    for (const auto& x : labels) named[plain(x.key)] = std::string{x.value};
    const auto i = static_cast<std::size_t>(what.what);
    if (what.kind == metric_kind::histogram)
      impl_->histograms[i]->Add(named, buckets_of(what)).Observe(value);
    else
      impl_->counters[i]->Add(named).Increment(value);
  } catch (...) {  // a number that is lost stops nothing
  }
}

std::string exporter::text() const {
  for (const auto& [place, value] : impl_->gauges) place->Set(value());
  return prometheus::TextSerializer{}.Serialize(impl_->registry.Collect());
}

}  // namespace riffle::http
