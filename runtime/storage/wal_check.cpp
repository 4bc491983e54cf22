// SPDX-License-Identifier: MIT
#include "runtime/storage/wal_check.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace riffle::storage {

namespace {

constexpr std::size_t header_size = 32;
constexpr std::size_t frame_header_size = 24;
constexpr std::uint32_t magic_of_log = 0x377F0682;  // or one more

std::uint32_t big_endian(const char* p) {
  const auto* b = reinterpret_cast<const unsigned char*>(p);
  return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 |
         std::uint32_t{b[2]} << 8 | b[3];
}

std::uint32_t little_endian(const char* p) {
  const auto* b = reinterpret_cast<const unsigned char*>(p);
  return std::uint32_t{b[3]} << 24 | std::uint32_t{b[2]} << 16 |
         std::uint32_t{b[1]} << 8 | b[0];
}

/// The checksum of the format: two sums over pairs of words.
struct wal_sum {
  bool big = false;
  std::uint32_t a = 0;
  std::uint32_t b = 0;

  void add(const char* bytes, std::size_t size) {
    const auto word = big ? big_endian : little_endian;
    for (std::size_t i = 0; i + 8 <= size; i += 8) {
      a += word(bytes + i) + b;
      b += word(bytes + i + 4) + a;
    }
  }
  [[nodiscard]] bool is(const char* stored) const {
    return a == big_endian(stored) && b == big_endian(stored + 4);
  }
};

struct wal_scan {
  std::array<char, header_size> header{};
  wal_sum sum;
  std::size_t good_frames = 0;    ///< up to the first bad one
  std::size_t commits_after = 0;  ///< marks of commits from there on

  bool read_header(std::ifstream& in) {
    if (!in.read(header.data(), header.size())) return true;
    const auto magic = big_endian(header.data());
    sum.big = (magic & 1) != 0;
    sum.add(header.data(), 24);
    return (magic & ~1U) == magic_of_log && sum.is(header.data() + 24);
  }

  void read_frames(std::ifstream& in) {
    const std::size_t page = big_endian(header.data() + 8);
    std::vector<char> frame(frame_header_size + page);
    bool good = true;
    while (in.read(frame.data(), static_cast<std::streamsize>(frame.size()))) {
      // Frames of an earlier round of the log have other salts.
      const bool ours = std::equal(header.begin() + 16, header.begin() + 24,
                                   frame.begin() + 8);
      sum.add(frame.data(), 8);
      sum.add(frame.data() + frame_header_size, page);
      good = good && ours && sum.is(frame.data() + 16);
      if (good)
        ++good_frames;
      else if (ours && big_endian(frame.data() + 4) != 0)
        ++commits_after;
    }
  }
};

/// What the index of the log says that it has, as its last process left it: a
/// kill leaves it, a loss of power may not.
struct wal_index {
  std::uint32_t frames = 0;
  std::array<char, 8> salts{};
};

std::optional<wal_index> read_index(std::string file) {
  constexpr std::size_t header = 48;  // twice, in the machine's byte order
  file.replace(file.size() - 3, 3, "shm");
  std::ifstream in{file, std::ios::binary};
  std::array<char, 2 * header> bytes{};
  if (!in.read(bytes.data(), bytes.size())) return {};
  if (!std::equal(bytes.begin(), bytes.begin() + header,
                  bytes.begin() + header))
    return {};
  wal_index x;
  const bool is_begun = bytes[12] != 0;
  std::memcpy(&x.frames, bytes.data() + 16, sizeof x.frames);
  std::copy_n(bytes.begin() + 32, x.salts.size(), x.salts.begin());
  if (!is_begun || x.frames == 0) return {};
  return x;
}

/// Whether the log has fewer pages than its index has of it.
std::optional<std::string> find_cut(const std::string& wal,
                                    const wal_scan* scan) {
  const auto index = read_index(wal);
  if (!index) return {};
  if (scan != nullptr && !std::equal(index->salts.begin(), index->salts.end(),
                                     scan->header.begin() + 16))
    return {};
  const auto found = scan == nullptr ? 0 : scan->good_frames;
  if (found >= index->frames) return {};
  return wal + " is shorter than it was: its last " +
         std::to_string(index->frames - found) +
         " pages are lost, and with them what was committed last";
}

}  // namespace

std::optional<std::string> find_wal_damage(const std::filesystem::path& wal) {
  std::ifstream in{wal, std::ios::binary};
  if (!in) return find_cut(wal.string(), nullptr);
  wal_scan scan;
  if (!scan.read_header(in))
    return wal.string() +
           " is damaged at its beginning: what was committed "
           "since the last checkpoint may be lost";
  if (!in) return find_cut(wal.string(), nullptr);
  const auto page = big_endian(scan.header.data() + 8);
  if (page < 512 || page > 65536) return std::nullopt;
  scan.read_frames(in);
  if (scan.commits_after == 0) return find_cut(wal.string(), &scan);
  return wal.string() + " is damaged after page " +
         std::to_string(scan.good_frames) + ": the last " +
         std::to_string(scan.commits_after) + " or more commits are lost";
}

log_state look_at_log(int log) {
  log_state out;
  std::array<char, header_size> head{};
  struct stat now{};
  // In this order: who begins it anew between the two makes it seem older.
  const auto n = ::pread(log, head.data(), head.size(), 0);
  if (::fstat(log, &now) == 0)
    out.bytes = static_cast<std::uint64_t>(now.st_size);
  if (n != static_cast<ssize_t>(head.size())) return out;
  out.headless = (big_endian(head.data()) & ~1U) != magic_of_log;
  std::copy_n(head.begin() + 16, out.salts.size(), out.salts.begin());
  return out;
}

bool was_cut(const log_state& before, const log_state& now) {
  return now.headless || (now.bytes != 0 && now.bytes < before.bytes &&
                          now.salts == before.salts);
}

}  // namespace riffle::storage
