// SPDX-License-Identifier: MIT
#include "tools/mcp/measured_link.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/base/metrics.hpp"

namespace riffle::mcp {

namespace {

using std::chrono::steady_clock;

double seconds_since(time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

/// As the conventions want it; empty: it went well.
std::string kind_of_failure(const reply& x) {
  if (const auto* refused = std::get_if<rpc_error>(&x))
    return std::to_string(refused->number);
  if (std::holds_alternative<lost>(x)) return "connection_lost";
  if (const auto* left = std::get_if<given_up>(&x))
    return left->late ? "timeout" : "cancelled";
  const auto& result = std::get<json>(x);
  const auto failed = result.find("isError");
  const bool is_error =
      failed != result.end() && failed->is_boolean() && failed->get<bool>();
  return is_error ? "tool_error" : "";
}

class measured_link final : public link {
 public:
  measured_link(std::string server, std::string transport)
      : server_{std::move(server)}, transport_{std::move(transport)} {}

  link_events watched(link_events x) {
    x.on_broken = [broken = broken_,
                   told = std::move(x.on_broken)](const std::string& why) {
      broken->store(true);
      if (told) told(why);
    };
    return x;
  }
  void wrap(link_ptr x) { inner_ = std::move(x); }

  reply ask(const request& x) override {
    const auto begin = steady_clock::now();
    auto said = inner_->ask(x);
    // How long one listens says nothing of a server's speed.
    if (!metrics_are_read() || x.method == "subscriptions/listen") return said;
    const auto name = x.params.find("name");
    const bool calls =
        x.method == "tools/call" && name != x.params.end() && name->is_string();
    const auto tool = calls ? name->get<std::string>() : std::string{};
    const auto version = version_now();
    measure(metric::mcp_operation, seconds_since(begin),
            {{metric_key::mcp_method, x.method},
             {metric_key::mcp_server, server_},
             {metric_key::tool, tool},
             {metric_key::mcp_version, version},
             {metric_key::transport, transport_},
             {metric_key::error_type, kind_of_failure(said)}});
    return said;
  }

  void notify(std::string_view method, const json& params) override {
    inner_->notify(method, params);
  }

  /// Both have introduced themselves: from here on it is in use.
  void set_version(std::string_view version) override {
    inner_->set_version(version);
    const std::lock_guard lock{mutex_};
    version_ = version;
    if (!begun_) begun_ = steady_clock::now();
  }

  void close() override {
    // What breaks by the close itself is no fault.
    const bool failed = broken_->load();
    inner_->close();
    std::unique_lock lock{mutex_};
    const auto begun = std::exchange(begun_, std::nullopt);
    const auto version = version_;
    lock.unlock();
    if (begun)
      measure(metric::mcp_session, seconds_since(*begun),
              {{metric_key::mcp_server, server_},
               {metric_key::mcp_version, version},
               {metric_key::transport, transport_},
               {metric_key::error_type, failed ? "connection_lost" : ""}});
  }

 private:
  std::string version_now() const {
    const std::lock_guard lock{mutex_};
    return version_;
  }

  const std::string server_;
  const std::string transport_;
  const std::shared_ptr<std::atomic<bool>> broken_ =
      std::make_shared<std::atomic<bool>>(false);
  link_ptr inner_;
  mutable std::mutex mutex_;
  std::string version_;
  std::optional<time_point> begun_;
};

}  // namespace

link_ptr connect_measured(const server_options& of, link_events events) {
  auto out = std::make_shared<measured_link>(of.name, of.transport);
  out->wrap(of.connect(out->watched(std::move(events))));
  return out;
}

}  // namespace riffle::mcp
