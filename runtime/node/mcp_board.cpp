// SPDX-License-Identifier: MIT
#include "runtime/node/mcp_board.hpp"

#include <algorithm>
#include <exception>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/config/home.hpp"
#include "runtime/node/mcp_part.hpp"

namespace riffle {

namespace {

/// Whoever writes just now is read again.
constexpr int most_reads = 5;

/// Whether all of them could be read; what could is in `out`.
bool read_all(const std::filesystem::path& folder,
              std::vector<mcp::server_view>& out) {
  bool whole = true;
  out.clear();
  for (const auto& text : storage::read_boards(folder)) {
    const auto read = mcp::read_board(text);
    whole = whole && read;
    if (read) out.insert(out.end(), read->begin(), read->end());
  }
  return whole;
}

}  // namespace

mcp_board::mcp_board(std::filesystem::path folder,
                     std::shared_ptr<executor> where)
    : where_{std::move(where)}, board_{std::move(folder)} {}

void mcp_board::watch(const std::shared_ptr<const mcp::servers>& all) {
  const std::lock_guard lock{mutex_};
  servers_ = all;
}

void mcp_board::note() {
  if (noted_.exchange(true)) return;
  try {
    where_->submit([me = shared_from_this()] { me->write(); });
  } catch (const std::exception&) {  // no thread: the next change tells it
    noted_ = false;
  }
}

void mcp_board::write() {
  const std::lock_guard lock{mutex_};
  noted_ = false;
  const auto all = servers_.lock();
  if (!all) return;
  const auto views = all->views();
  const bool used = std::ranges::any_of(
      views, [](const mcp::server_view& x) { return x.is_used(); });
  if (!used && !board_.has_said()) return;
  const auto done = board_.write(mcp::board_text(views));
  if (!done && !std::exchange(failed_, true))
    log_warn("mcp", "other processes cannot read how its servers are: " +
                        done.error().message);
}

std::filesystem::path mcp_boards(const config::config& config) {
  const auto data = config::data_folder(config.runtime);
  return data ? *data / "servers" : std::filesystem::path{};
}

std::vector<mcp::server_view> used_elsewhere(const config::config& config) {
  std::vector<mcp::server_view> out;
  const auto folder = mcp_boards(config);
  for (int i = 0; i < most_reads && !read_all(folder, out); ++i) {
  }
  std::erase_if(out, [&](const mcp::server_view& x) {
    const auto own = config.mcp.find(x.name);
    return own == config.mcp.end() || !x.is_used() || x.process == ::getpid() ||
           mcp::digest_of_server(mcp_identity(own->second)) != x.of;
  });
  std::ranges::sort(out, {}, [](const mcp::server_view& x) {
    return std::tuple{x.name, x.process};
  });
  return out;
}

}  // namespace riffle
