// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <mutex>
#include <thread>

namespace riffle::cli {

/// Catches SIGINT, SIGTERM and SIGHUP while it lives; at most one object at a
/// time. The first of them asks for an end (`on_stop`), a SIGINT after it ends
/// the process at once with 130. A second SIGTERM or SIGHUP does nothing more,
/// but that behind a Ctrl-C the whole program is meant.
/// A SIGHUP that was ignored before (nohup) stays so. SIGPIPE is caught and has
/// no effect: writes report it. (Handlers, not SIG_IGN: child processes must
/// not inherit an ignored signal.)
class interrupts {
 public:
  interrupts();
  ~interrupts();
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;

  /// `f` is called once, on a thread of this object (or right here if the
  /// signal came before), with a name such as "Ctrl-C". It must return soon.
  /// After a call with nothing the old one is not called any more.
  void on_stop(std::function<void(const char*)> f);

  /// From now on a SIGHUP calls `f`, each time, and asks for no end: as people
  /// tell servers to read their configuration again.
  void on_reload(std::function<void()> f);

  [[nodiscard]] bool asked_to_stop() const noexcept;
  /// SIGINTs since the beginning.
  [[nodiscard]] int times() const noexcept;
  /// While `on` a second SIGINT is counted, and ends nothing: it is meant for
  /// what has the terminal.
  void lend(bool on) noexcept;
  /// Not by Ctrl-C alone, which may mean less than the whole program.
  [[nodiscard]] bool asked_to_leave() const noexcept;

 private:
  void listen();
  void tell();
  void reload();

  std::mutex mutex_;
  std::function<void(const char*)> on_stop_;
  std::function<void()> on_reload_;
  bool told_ = false;
  std::thread listener_;
};

}  // namespace riffle::cli
