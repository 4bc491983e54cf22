// SPDX-License-Identifier: MIT
#include "tools/builtin/files/text_places.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

#include "runtime/base/write_all.hpp"
#include "tools/builtin/files/replace_file.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t chunk = 256u << 10;
constexpr std::size_t most_lines = 10;

class finder {
 public:
  explicit finder(std::string_view text) : text_{text} {}

  /// The next bytes of the file. False: too many places.
  bool feed(std::string_view bytes) {
    count_ends(bytes);
    buffer_ += bytes;
    result_.size += bytes.size();
    std::size_t from = 0;
    std::size_t counted = 0;
    for (;;) {
      const auto* found = static_cast<const char*>(
          ::memmem(buffer_.data() + from, buffer_.size() - from, text_.data(),
                   text_.size()));
      if (!found) break;
      const auto at = static_cast<std::size_t>(found - buffer_.data());
      from = at + note(at, counted);
      if (result_.offsets.size() > most_places) return false;
    }
    // What may still become a place stays.
    const auto keep =
        std::min({buffer_.size() - from, buffer_.size(), text_.size() - 1});
    const auto gone = buffer_.size() - keep;
    line_ += ends_in(counted, gone);
    base_ += gone;
    buffer_.erase(0, gone);
    return true;
  }

  text_places finish() {
    result_.all_crlf = ends_ > 0 && ends_ == crlf_;
    return std::move(result_);
  }

 private:
  /// How far to go on from a place in the buffer.
  std::size_t note(std::size_t at, std::size_t& counted) {
    const auto place = base_ + at;
    const auto& all = result_.offsets;
    if (!all.empty() && place < all.back() + text_.size()) {
      result_.overlapping = true;
      return all.back() + text_.size() - place;
    }
    if (all.size() < most_lines) {
      line_ += ends_in(counted, at);
      counted = at;
      result_.lines.push_back(line_);
    }
    result_.offsets.push_back(place);
    // One that overlaps has to be known, more of them need not.
    return result_.overlapping ? text_.size() : 1;
  }

  [[nodiscard]] std::uint64_t ends_in(std::size_t begin,
                                      std::size_t end) const {
    if (begin >= end) return 0;
    const auto part = std::string_view{buffer_}.substr(begin, end - begin);
    return static_cast<std::uint64_t>(
        std::count(part.begin(), part.end(), '\n'));
  }

  void count_ends(std::string_view bytes) {
    for (std::size_t i = bytes.find('\n'); i != std::string_view::npos;
         i = bytes.find('\n', i + 1)) {
      ++ends_;
      if ((i == 0 ? last_ : bytes[i - 1]) == '\r') ++crlf_;
    }
    if (!bytes.empty()) last_ = bytes.back();
  }

  std::string_view text_;
  std::string buffer_;
  std::uint64_t base_ = 0;  ///< offset of the buffer in the file
  std::uint64_t line_ = 1;  ///< of the last place counted
  std::uint64_t ends_ = 0;
  std::uint64_t crlf_ = 0;
  char last_ = 0;
  text_places result_;
};

/// Calls `use` with the pieces of a part of a file. 0 or an errno; ESTALE: the
/// file is shorter.
template <class Use>
int for_each_piece(int fd, std::uint64_t begin, std::uint64_t end,
                   const std::stop_token& stop, Use use) {
  while (begin < end) {
    if (stop.stop_requested()) return ECANCELED;
    const auto piece = read_at(
        fd, begin,
        static_cast<std::size_t>(std::min<std::uint64_t>(chunk, end - begin)));
    if (!piece) return piece.error();
    if (piece->empty()) return ESTALE;
    if (const int number = use(*piece); number != 0) return number;
    begin += piece->size();
  }
  return 0;
}

/// Whether a file has `bytes` at `offset`.
int compare(int fd, std::uint64_t offset, std::string_view bytes) {
  const auto there = read_at(fd, offset, bytes.size());
  if (!there) return there.error();
  return *there == bytes ? 0 : ESTALE;
}

}  // namespace

tl::expected<std::string, int> read_at(int fd, std::uint64_t offset,
                                       std::size_t size) {
  constexpr std::size_t first = 4096;  // most files are short, `size` is large
  std::string result;
  std::size_t done = 0;
  while (done < size) {
    if (done == result.size())
      result.resize(std::min(size, std::max(first, 2 * done)));
    const auto count = ::pread(fd, &result[done], result.size() - done,
                               static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected{errno};
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  result.resize(done);
  return result;
}

tl::expected<text_places, int> find_places(int fd, std::string_view text,
                                           const std::stop_token& stop) {
  finder result{text};
  for (std::uint64_t offset = 0;;) {
    if (stop.stop_requested()) return tl::unexpected{ECANCELED};
    const auto piece = read_at(fd, offset, chunk);
    if (!piece) return tl::unexpected{piece.error()};
    if (piece->empty()) return result.finish();
    if (!result.feed(*piece)) return tl::unexpected{E2BIG};
    offset += piece->size();
  }
}

std::string with_crlf(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n' && !result.ends_with('\r')) result += '\r';
    result += c;
  }
  return result;
}

int write_changed(int from, int to, const text_change& change,
                  const std::stop_token& stop) {
  const auto copy = [&](std::uint64_t begin, std::uint64_t end) {
    return for_each_piece(from, begin, end, stop, [&](const std::string& x) {
      return write_all(to, x);
    });
  };
  std::uint64_t at = 0;
  for (const auto place : change.places.offsets) {
    if (const int number = copy(at, place); number != 0) return number;
    if (const int number = write_all(to, change.after); number != 0)
      return number;
    at = place + change.before.size();
  }
  return copy(at, change.places.size);
}

int compare_unchanged(int now, int changed, const text_change& change,
                      const std::stop_token& stop) {
  std::uint64_t at = 0;        // in `now`
  std::uint64_t other_at = 0;  // in `changed`
  const auto same = [&](std::uint64_t end) {
    const auto number =
        for_each_piece(now, at, end, stop, [&](const std::string& x) {
          const int result = compare(changed, other_at, x);
          other_at += x.size();
          return result;
        });
    at = end;
    return number;
  };
  for (const auto place : change.places.offsets) {
    if (const int number = same(place); number != 0) return number;
    if (const int number = compare(now, place, change.before); number != 0)
      return number;
    at += change.before.size();
    other_at += change.after.size();
  }
  if (const int number = same(change.places.size); number != 0) return number;
  const auto beyond = read_at(now, change.places.size, 1);
  if (!beyond) return beyond.error();
  return beyond->empty() ? 0 : ESTALE;
}

}  // namespace riffle::tools
