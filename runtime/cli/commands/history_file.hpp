// SPDX-License-Identifier: MIT
#pragma once

// What was typed in conversations, for later ones: a JSON text a line, the
// user's own. All that are open add to it, and none takes away what another one
// has added.

#include <deque>
#include <filesystem>
#include <string>

#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/terminal/line_editor.hpp"

namespace riffle::cli {

class history_file {
 public:
  /// Empty: nothing is kept.
  explicit history_file(std::filesystem::path file) : file_{std::move(file)} {}

  [[nodiscard]] std::filesystem::path beside(const char* name) const {
    return file_.empty() ? file_ : file_.parent_path() / name;
  }

  void load(line_editor& editor);

  /// What was typed since it was called last, before something can end this
  /// program.
  void add_typed(const line_editor& editor);

 private:
  struct open_file {
    unique_fd at{};
    bool locked = false;
  };
  /// The newest lines, as many as an editor takes.
  struct newest {
    std::deque<std::string> lines;
    bool all = true;
  };
  [[nodiscard]] open_file open_locked() const;
  [[nodiscard]] newest read() const;
  void trim(const std::deque<std::string>& lines) const;

  std::filesystem::path file_;
  std::deque<std::string> known_;  ///< what the file has of the editor
};

}  // namespace riffle::cli
