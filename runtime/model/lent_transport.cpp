// SPDX-License-Identifier: MIT
#include "runtime/model/lent_transport.hpp"

#include <exception>
#include <map>
#include <mutex>
#include <utility>

namespace riffle::model {

namespace {

constexpr const char* op = "model request";

transport_end ended(errc code, std::string why) {
  transport_end end;
  end.failure = error{code, op, std::move(why), false, {}};
  return end;
}

transport_end cancelled() {
  return ended(errc::cancelled, "the runtime has ended");
}

/// Passes on until its end, or until it is cut. The mutex is held while the
/// listener is called, so that `end` means that nobody is in it; a transport
/// may end a transfer while it is cancelled in the listener.
class relay final : public transfer_listener {
 public:
  explicit relay(std::shared_ptr<transfer_listener> to) : to_{std::move(to)} {}

  void on_pace(duration wait) override {
    const std::lock_guard lock{mutex_};
    if (to_) to_->on_pace(wait);
  }
  void on_bytes(std::string bytes) override {
    const std::lock_guard lock{mutex_};
    if (to_) to_->on_bytes(std::move(bytes));
  }
  void on_end(transport_end how) override {
    const std::lock_guard lock{mutex_};
    if (const auto to = std::exchange(to_, nullptr)) to->on_end(std::move(how));
  }
  [[nodiscard]] bool over() const {
    const std::lock_guard lock{mutex_};
    return to_ == nullptr;
  }

 private:
  mutable std::recursive_mutex mutex_;
  std::shared_ptr<transfer_listener> to_;
};

class lent_transport_impl final : public lent_transport {
 public:
  explicit lent_transport_impl(std::shared_ptr<transport> inner)
      : inner_{std::move(inner)} {}
  ~lent_transport_impl() override { lent_transport_impl::close(); }
  lent_transport_impl(const lent_transport_impl&) = delete;
  lent_transport_impl& operator=(const lent_transport_impl&) = delete;

  transfer_id open(transport_request request,
                   std::shared_ptr<transfer_listener> listener) override {
    const auto passed = std::make_shared<relay>(std::move(listener));
    if (!keep(passed)) {
      passed->on_end(cancelled());
      return 0;
    }
    try {
      const auto id = inner_->open(std::move(request), passed);
      number(passed, id);
      return id;
    } catch (const std::exception& e) {
      passed->on_end(ended(
          errc::model_error,
          std::string{"the transport of the application threw: "} + e.what()));
    } catch (...) {
      passed->on_end(ended(errc::model_error,
                           "the transport of the application threw something "
                           "that is no std::exception"));
    }
    return 0;
  }

  void grant(transfer_id id, std::size_t bytes) override {
    inner_->grant(id, bytes);
  }
  void cancel(transfer_id id) override { inner_->cancel(id); }

  void close() override {
    std::map<std::shared_ptr<relay>, transfer_id> open;
    {
      const std::lock_guard lock{mutex_};
      closed_ = true;
      open.swap(open_);
    }
    for (const auto& [passed, id] : open) {
      if (id != 0 && !passed->over()) inner_->cancel(id);
      passed->on_end(cancelled());
    }
  }

 private:
  /// False: closed. What has ended is forgotten on the way.
  bool keep(const std::shared_ptr<relay>& x) {
    const std::lock_guard lock{mutex_};
    if (closed_) return false;
    std::erase_if(open_, [](const auto& entry) { return entry.first->over(); });
    open_.emplace(x, 0);
    return true;
  }
  void number(const std::shared_ptr<relay>& x, transfer_id id) {
    const std::lock_guard lock{mutex_};
    if (const auto i = open_.find(x); i != open_.end()) i->second = id;
  }

  const std::shared_ptr<transport> inner_;
  std::mutex mutex_;
  bool closed_ = false;
  std::map<std::shared_ptr<relay>, transfer_id> open_;
};

}  // namespace

std::shared_ptr<lent_transport> make_lent_transport(
    std::shared_ptr<transport> inner) {
  return std::make_shared<lent_transport_impl>(std::move(inner));
}

}  // namespace riffle::model
