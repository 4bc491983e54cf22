// SPDX-License-Identifier: MIT
#pragma once

namespace riffle {

/// For the end of a job of a blocking executor: what is left of it takes a
/// moment. While one lives, the executor wakes no other thread for a job that
/// this thread gives it, but for a second one: it takes the first itself as
/// soon as it is through. So a job that only leads to the next one costs no
/// wake-up. On other threads it does nothing. What may take long on a lent
/// thread, as a handler of an application, says so by `end_job_tail` first.
class job_tail {
 public:
  job_tail() noexcept;
  ~job_tail();
  job_tail(const job_tail&) = delete;
  job_tail& operator=(const job_tail&) = delete;

 private:
  bool outer_;
};

/// The thread's job takes longer after all: another one is woken for what was
/// left to it. Does nothing where no `job_tail` lives.
void end_job_tail();

}  // namespace riffle
