// SPDX-License-Identifier: MIT
#pragma once

// What an application gives a runtime beside its configuration.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/log.hpp"
#include "runtime/model/transport.hpp"
#include "runtime/storage/journal.hpp"
#include "tools/tool.hpp"

namespace riffle {

/// How a runtime is put together beside its configuration.
struct runtime_options {
  /// Tools beside the built-in ones; agents name them in `tools`.
  std::vector<tools::tool_ptr> tools{};
  /// Nothing: SQLite in `runtime.data_dir`. Else this one, e.g.
  /// `storage::make_memory_journal()`.
  std::shared_ptr<storage::journal> journal{};
  /// Scripts (TOML, as in the installed demo.script.toml) by name of their
  /// model, for models with dialect "scripted"; instead of the `script` file.
  std::map<std::string, std::string> scripts{};
  /// Carries requests to models instead of Riffle's own HTTP client: for a
  /// provider of one's own, for recordings, for tests. Answers are in the wire
  /// format of the model's `dialect`. Models need no key then; `max_concurrent`
  /// and `requests_per_minute` hold. May be shared; no listener is called
  /// after the runtime's destructor has returned. Nothing: HTTP.
  std::shared_ptr<model::transport> transport{};
  /// Gets the log's lines that are bad enough for `runtime.log.level`, in the
  /// place of standard error, until the runtime's destructor has returned. The
  /// log is the process's: with several runtimes each sink gets all lines.
  log_sink log{};
  /// The process is the runtime's: it takes the models' keys out of the
  /// environment (they are read when the first runtime is created; nothing
  /// finds them there later), no other process of the user can trace this one
  /// or look into it (no core is dumped either), and it becomes the parent of
  /// processes whose own has died, to end what a command leaves that kills its
  /// guard. Programs that the application starts itself stay untouched while
  /// they stay in its session. A file size limit is an error of the write, not
  /// a signal (SIGXFSZ). Set it before other threads run.
  bool owns_process = false;
};

}  // namespace riffle
