// SPDX-License-Identifier: MIT
#include "tools/process/worker_child.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "runtime/base/secrets.hpp"
#include "tools/process/child_conversation.hpp"
#include "tools/process/worker_process.hpp"

namespace riffle::tools {

namespace {

constexpr std::chrono::seconds end_limit{5};

}  // namespace

worker_child::worker_child(guarded_process process, unique_fd fd,
                           std::string tool, std::filesystem::path lock)
    : tool_{std::move(tool)},
      process_{std::move(process)},
      fd_{std::move(fd)},
      lock_{std::move(lock)} {}

expected<std::unique_ptr<worker_child>> worker_child::start(
    start_options options) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return unexpected{error{errc::tool_execution_error, "isolation",
                            "cannot start a child: no file descriptors", true,
                            std::strerror(errno)}};
  unique_fd mine{ends[0]};
  const unique_fd theirs{ends[1]};
  process_request request;
  request.command = {"/proc/self/exe", worker_argument};
  std::error_code ignored;
  request.folder = std::filesystem::current_path(ignored);
  request.environment = environment_without_keys();
  request.input = theirs.get();
  request.lock = options.lock;
  request.space = pid_space::shared;  // code of ours, see README.md
  request.guard_program = options.program;
  auto process = guarded_process::start(request);
  if (!process) return unexpected{std::move(process.error())};
  std::unique_ptr<worker_child> child{
      new worker_child{*std::move(process), std::move(mine), options.tool,
                       std::move(options.lock)}};
  child_setup setup;
  setup.tool = std::move(options.tool);
  setup.configuration = std::move(options.configuration);
  child->send(encode(std::move(setup)));
  child_conversation{*child}.send_some();
  return child;
}

worker_child::~worker_child() {
  if (!ended_) child_conversation{*this}.end(end_limit);
  std::error_code ignored;
  if (ended_ && !lock_.empty()) std::filesystem::remove(lock_, ignored);
}

void worker_child::send(const std::string& message) {
  for (auto& x : in_packets(message)) unsent_.push_back(std::move(x));
}

child_call worker_child::call(const nlohmann::json& arguments,
                              tool_context& context) {
  process_.live_by(context.lease);
  auto end = child_conversation{*this}.run(arguments, context);
  if (!ended_) process_.live_by(nullptr);
  return end;
}

bool worker_child::lives() const {
  if (ended_) return false;
  pollfd fd{process_.channel(), POLLIN, 0};
  return ::poll(&fd, 1, 0) == 0;
}

}  // namespace riffle::tools
