// SPDX-License-Identifier: MIT
#pragma once

// What may take the place of the word that is being typed in a conversation:
// commands, names behind them, paths. Pure.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cli/terminal/typed_list.hpp"

namespace riffle::cli {

enum class word_kind : std::uint8_t {
  none,
  command,   ///< "/wo", and nothing before it
  argument,  ///< "/agent re"
  path,      ///< "see @pa"
};

/// The word before the cursor, if anything is known of such words.
struct begun_word {
  word_kind what = word_kind::none;
  std::string command{};  ///< that it stands behind; without the '/'
  std::string part{};     ///< what is typed of it; without '/', '@' and '"'
  bool quoted = false;    ///< @"a b

  /// Bytes of it before the cursor.
  [[nodiscard]] std::size_t size() const {
    const bool has_sign = what == word_kind::command || what == word_kind::path;
    return part.size() + (has_sign ? 1 : 0) + (quoted ? 1 : 0);
  }
  bool operator==(const begun_word&) const = default;
};
begun_word word_before(std::string_view before_cursor);

/// Whether a path stands behind a command.
bool takes_path(std::string_view command);

/// Nobody can type that, and a line end would begin another line.
bool has_control(std::string_view name);

/// Of several things that fit equally, how many there are, and what all of them
/// begin with.
class alike {
 public:
  void add(std::string_view x);
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// In whole characters.
  [[nodiscard]] std::string common() const;

 private:
  std::string first_;
  std::size_t same_ = 0;  ///< bytes
  std::size_t count_ = 0;
};

/// Behind an '@', in quotation marks where it needs them, which are closed if
/// the path is `whole`.
std::string path_in_text(const std::string& path, bool quoted, bool whole);

/// What has a name, and what people are told of it.
struct named_choice {
  std::string name{};
  std::string about{};
  bool ends = true;  ///< a blank goes behind it

  bool operator==(const named_choice&) const = default;
};

/// Those that begin so, in their order, then those that have it inside; `more`
/// are commands beside those that are built in.
typed_offer offer_commands(const begun_word& x,
                           std::span<const named_choice> more);
/// The same of names behind a command. `any`: others mean something, too, so
/// that an Enter takes none that nobody has gone to.
typed_offer offer_names(const begun_word& x, std::span<const named_choice> all,
                        bool any);

/// Folders end with '/'.
struct known_path {
  explicit known_path(std::string x);

  std::string path;
  std::string lower;
};
/// What one thread has found and others read.
using path_piece = std::shared_ptr<const std::vector<known_path>>;

/// What is known of paths, as long as they are looked for.
struct paths_by_now {
  std::vector<path_piece> folder{};  ///< in the folder that the word names
  std::vector<path_piece> tree{};    ///< anywhere in this one
  bool folder_cut = false;           ///< not all of it was looked at
  bool tree_cut = false;
  bool pending = false;  ///< there may be more
  bool slow = false;     ///< and that takes a while
};

/// "./a/b" -> "a/b"
std::string without_here(std::string path);
/// "a/b" -> "a/"
std::string folder_part(std::string_view path);

/// Paths whose name begins with what was typed, then those that have it inside;
/// of these those in fewer folders first. With a '/' the folders before it are
/// the last ones of the path. Hidden ones only behind a '.'.
typed_offer offer_paths(const begun_word& x, const paths_by_now& known);

}  // namespace riffle::cli
