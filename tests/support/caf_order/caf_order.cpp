// SPDX-License-Identifier: MIT
// What the thread sanitizer cannot see: the order that CAF's library gives.
//
// The library comes without instrumentation, so its lock-free mailboxes and
// reference counts order nothing for the sanitizer, and every message between
// two threads would be reported. The functions here stand before those of the
// library (the program's symbols win), tell the sanitizer of that order, and
// call the library's. They add no order of their own: sender before receiver
// of one message, one turn of an actor before the next, the uses of an object
// before its end. So a report of the sanitizer is one about our code.
#include <cstdlib>
#include <dlfcn.h>
#include <utility>

#include <caf/all.hpp>
#include <caf/detail/sync_request_bouncer.hpp>
#include <sanitizer/tsan_interface.h>

namespace {

/// The library's function behind ours of the same name.
template <class F>
F* next(const char* name) {
  void* found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();  // another CAF than 0.17
  return reinterpret_cast<F*>(found);
}

/// A turn of an actor: after the one before it, before the next.
class turn {
 public:
  explicit turn(void* actor) : actor_{actor} { __tsan_acquire(actor_); }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() { __tsan_release(actor_); }

 private:
  void* actor_;
};

}  // namespace

namespace caf {

void scheduled_actor::enqueue(mailbox_element_ptr x, execution_unit* host) {
  static auto* const real =
      next<void(scheduled_actor*, mailbox_element_ptr, execution_unit*)>(
          "_ZN3caf15scheduled_actor7enqueueESt10unique_ptrINS_15mailbox_"
          "elementENS_6detail8disposerEEPNS_14execution_unitE");
  __tsan_release(x.get());
  real(this, std::move(x), host);
}

void scheduled_actor::launch(execution_unit* host, bool lazy, bool hide) {
  static auto* const real =
      next<void(scheduled_actor*, execution_unit*, bool, bool)>(
          "_ZN3caf15scheduled_actor6launchEPNS_14execution_unitEbb");
  __tsan_release(this);
  real(this, host, lazy, hide);
}

bool scheduled_actor::activate(execution_unit* host) {
  static auto* const real = next<bool(scheduled_actor*, execution_unit*)>(
      "_ZN3caf15scheduled_actor8activateEPNS_14execution_unitE");
  const turn mine{this};
  return real(this, host);
}

bool scheduled_actor::finalize() {
  static auto* const real =
      next<bool(scheduled_actor*)>("_ZN3caf15scheduled_actor8finalizeEv");
  const turn mine{this};
  return real(this);
}

intrusive::task_result scheduled_actor::mailbox_visitor::operator()(
    mailbox_element& x) {
  static auto* const real =
      next<intrusive::task_result(mailbox_visitor*, mailbox_element&)>(
          "_ZN3caf15scheduled_actor15mailbox_visitorclERNS_15mailbox_elementE");
  __tsan_acquire(&x);
  const turn mine{self};
  return real(this, x);
}

void blocking_actor::enqueue(mailbox_element_ptr x, execution_unit* host) {
  static auto* const real =
      next<void(blocking_actor*, mailbox_element_ptr, execution_unit*)>(
          "_ZN3caf14blocking_actor7enqueueESt10unique_ptrINS_15mailbox_"
          "elementENS_6detail8disposerEEPNS_14execution_unitE");
  __tsan_release(x.get());
  real(this, std::move(x), host);
}

intrusive::task_result blocking_actor::mailbox_visitor::operator()(
    mailbox_element& x) {
  static auto* const real =
      next<intrusive::task_result(mailbox_visitor*, mailbox_element&)>(
          "_ZN3caf14blocking_actor15mailbox_visitorclERNS_15mailbox_elementE");
  __tsan_acquire(&x);
  return real(this, x);
}

// What an actor that ends finds in its mailbox is deleted after this.
void detail::sync_request_bouncer::operator()(const mailbox_element& x) const {
  static auto* const real =
      ::next<void(const sync_request_bouncer*, const mailbox_element&)>(
          "_ZNK3caf6detail20sync_request_bouncerclERKNS_15mailbox_elementE");
  __tsan_acquire(const_cast<mailbox_element*>(&x));
  real(this, x);
}

// The same as in the library, in instrumented code.
void intrusive_ptr_release(actor_control_block* x) {
  if (x->strong_refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  x->data_dtor(x->get());
  intrusive_ptr_release_weak(x);
}

void ref_counted::deref() const noexcept {
  if (rc_.fetch_sub(1, std::memory_order_acq_rel) == 1) request_deletion(true);
}

}  // namespace caf
