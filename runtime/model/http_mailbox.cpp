// SPDX-License-Identifier: MIT
#include "runtime/model/http_mailbox.hpp"

#include <cerrno>
#include <sys/eventfd.h>
#include <system_error>
#include <utility>

namespace riffle::model {

http_mailbox::http_mailbox() : wake_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
  if (wake_.get() < 0) {
    throw std::system_error{errno, std::generic_category(), "eventfd"};
  }
}

transfer_id http_mailbox::open(transport_request request,
                               std::shared_ptr<transfer_listener> listener) {
  auto credit = std::make_shared<http_credit>(request.credit);
  std::scoped_lock lock{mutex_};
  auto id = ++last_;
  entries_.emplace(id, entry{credit});
  push(open_command{id, std::move(request), std::move(listener),
                    std::move(credit)});
  return id;
}

void http_mailbox::grant(transfer_id id, std::size_t bytes) {
  std::scoped_lock lock{mutex_};
  auto i = entries_.find(id);
  if (i != entries_.end() && i->second.credit->add(bytes)) {
    push(resume_command{id});
  }
}

void http_mailbox::cancel(transfer_id id) {
  std::scoped_lock lock{mutex_};
  auto i = entries_.find(id);
  if (i != entries_.end() && !std::exchange(i->second.cancelled, true)) {
    push(cancel_command{id});
  }
}

void http_mailbox::stop() {
  stopping_ = true;
  ::eventfd_write(wake_.get(), 1);
}

void http_mailbox::clear_wake() {
  eventfd_t ignored = 0;
  ::eventfd_read(wake_.get(), &ignored);
}

std::vector<http_mailbox::command> http_mailbox::take() {
  std::scoped_lock lock{mutex_};
  return std::exchange(commands_, {});
}

void http_mailbox::forget(transfer_id id) {
  std::scoped_lock lock{mutex_};
  entries_.erase(id);
}

void http_mailbox::push(command x) {
  commands_.push_back(std::move(x));
  if (commands_.size() == 1) {
    ::eventfd_write(wake_.get(), 1);
  }
}

}  // namespace riffle::model
