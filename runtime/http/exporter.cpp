// SPDX-License-Identifier: MIT
#include "runtime/http/exporter.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <set>

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

/// Of one metric: what clients name (tools, steps of plans) is a label's value,
/// and no client may fill the memory with them.
constexpr std::size_t most_series = 1000;

}  // namespace

struct exporter::impl {
  prometheus::Registry registry;
  std::array<prometheus::Family<prometheus::Histogram>*, metric_count>
      histograms{};
  std::array<prometheus::Family<prometheus::Counter>*, metric_count> counters{};
  std::array<prometheus::Family<prometheus::Gauge>*, metric_count> sums{};
  std::mutex mutex;
  std::array<std::set<std::map<std::string, std::string>>, metric_count> series;

  std::map<std::string, std::string> named(
      std::size_t i, std::initializer_list<metric_label> labels);
  std::vector<std::pair<prometheus::Gauge*, std::function<double()>>> gauges;
};

/// Those of a new series over the bound are one, of all others.
std::map<std::string, std::string> exporter::impl::named(
    std::size_t i, std::initializer_list<metric_label> labels) {
  std::map<std::string, std::string> out;
  for (const auto& x : labels)  // "": an attribute that is not set
    if (!x.value.empty()) out[plain(x.key)] = std::string{x.value};
  const std::lock_guard lock{mutex};
  if (series[i].contains(out)) return out;
  if (series[i].size() < most_series) return *series[i].insert(out).first;
  for (auto& one : out) one.second = "_OTHER";
  return out;
}

exporter::exporter(std::vector<gauge> gauges)
    : impl_{std::make_unique<impl>()} {
  for (const auto& x : metrics_table()) {
    const auto i = static_cast<std::size_t>(x.what);
    const auto name = name_of(x);
    const std::string help{x.description};
    auto& all = impl_->registry;
    if (x.kind == metric_kind::histogram)
      impl_->histograms[i] =
          &prometheus::BuildHistogram().Name(name).Help(help).Register(all);
    else if (x.kind == metric_kind::counter)
      impl_->counters[i] =
          &prometheus::BuildCounter().Name(name).Help(help).Register(all);
    else
      impl_->sums[i] =
          &prometheus::BuildGauge().Name(name).Help(help).Register(all);
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
    const auto i = static_cast<std::size_t>(what.what);
    const auto named = impl_->named(i, labels);
    if (what.kind == metric_kind::histogram)
      impl_->histograms[i]
          ->Add(named,
                prometheus::Histogram::BucketBoundaries{what.buckets.begin(),
                                                        what.buckets.end()})
          .Observe(value);
    else if (what.kind == metric_kind::counter)
      impl_->counters[i]->Add(named).Increment(value);
    else
      impl_->sums[i]->Add(named).Increment(value);
  } catch (...) {  // a number that is lost stops nothing
  }
}

std::string exporter::text() const {
  for (const auto& [place, value] : impl_->gauges) place->Set(value());
  return prometheus::TextSerializer{}.Serialize(impl_->registry.Collect());
}

}  // namespace riffle::http
