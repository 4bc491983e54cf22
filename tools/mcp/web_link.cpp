// SPDX-License-Identifier: MIT
// A server at a URL: streamable HTTP first, then the transport before it.
#include <mutex>
#include <utility>

#include "runtime/base/log.hpp"
#include "tools/mcp/http_link.hpp"

namespace riffle::mcp {

namespace {

class web_link final : public link {
 public:
  web_link(http_link_options options, link_events events)
      : options_{std::move(options)},
        events_{std::move(events)},
        link_{open_streamable(options_, events_)} {}

  reply ask(const request& x) override {
    auto said = now()->ask(x);
    const auto* refused = std::get_if<rpc_error>(&said);
    if (refused == nullptr || refused->number != code::not_here) return said;
    auto older = open_sse(options_, events_, x.until, x.stop);
    if (!older)
      return rpc_error{
          code::internal, refused->message + "; " + older.error().message, {}};
    if (!use(*older)) return lost{"it was closed"};
    log_info("mcp." + options_.name, "it speaks HTTP+SSE of 2024-11-05");
    return (*older)->ask(x);
  }

  void notify(std::string_view method, const json& params) override {
    now()->notify(method, params);
  }

  void set_version(std::string_view version) override {
    now()->set_version(version);
  }

  void close() override {
    std::unique_lock lock{mutex_};
    closed_ = true;
    const auto all = std::pair{link_, before_};
    lock.unlock();
    all.first->close();
    if (all.second) all.second->close();
  }

 private:
  link_ptr now() const {
    const std::lock_guard lock{mutex_};
    return link_;
  }

  bool use(const link_ptr& x) {
    const std::lock_guard lock{mutex_};
    if (closed_) return false;
    before_ = std::exchange(link_, x);
    return true;
  }

  const http_link_options options_;
  const link_events events_;
  mutable std::mutex mutex_;
  link_ptr link_;
  link_ptr before_;  ///< others may still wait in it
  bool closed_ = false;
};

}  // namespace

link_ptr open_http(http_link_options options, link_events events) {
  return std::make_shared<web_link>(std::move(options), std::move(events));
}

}  // namespace riffle::mcp
