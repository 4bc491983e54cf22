// SPDX-License-Identifier: MIT
#include "runtime/node/hosted_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "actors/core/placement.hpp"
#include "actors/tools/call_policy.hpp"
#include "actors/tools/proposal_texts.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/base/write_all.hpp"
#include "runtime/service/run_folder.hpp"
#include "tools/ask.hpp"
#include "tools/kept_file.hpp"
#include "tools/remote_tool.hpp"

namespace riffle {

namespace {

constexpr const char* op = "node";

/// Room for what stands around a result in a message.
constexpr std::uint64_t frame_reserve = 1u << 20;

/// A duration of 0 is no limit.
duration shorter(duration a, duration b) {
  if (a == duration{}) return b;
  return b == duration{} ? a : std::min(a, b);
}

/// A file that a tool wrote, gone once it was read.
class once_read_file final : public output_stream {
 public:
  explicit once_read_file(std::filesystem::path file)
      : file_{std::move(file)},
        fd_{::open(file_.c_str(), O_RDONLY | O_CLOEXEC)} {}
  ~once_read_file() override {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }

  std::string next(std::size_t most) override {
    std::string out(most, '\0');
    auto got = ::read(fd_.get(), out.data(), out.size());
    while (got < 0 && errno == EINTR)
      got = ::read(fd_.get(), out.data(), out.size());
    if (got < 0)
      log_error("node", "the whole output in " + file_.string() +
                            " could not be read to its end: " +
                            std::generic_category().message(errno));
    whole_ = whole_ && got >= 0;
    out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return out;
  }

  [[nodiscard]] bool whole() const override { return whole_; }

 private:
  const std::filesystem::path file_;
  const unique_fd fd_;
  bool whole_ = true;
};

/// By the rules of what is kept of this process's own calls, whatever the node
/// says: piece behind piece, and no more than there is room for.
bool write_piece(const std::filesystem::path& file, const cluster::piece& x) {
  constexpr int plain = O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
  const bool first = x.offset == 0;
  if (first) ::unlink(file.c_str());  // an earlier attempt's
  if (x.bytes.empty()) return false;
  const unique_fd fd{
      ::open(file.c_str(), first ? plain | O_CREAT | O_EXCL : plain, 0600)};
  struct stat at{};
  const bool fits = fd && ::fstat(fd.get(), &at) == 0 &&
                    static_cast<std::uint64_t>(at.st_size) == x.offset &&
                    x.offset + x.bytes.size() <= tools::most_kept_bytes &&
                    tools::has_room(fd.get(), x.bytes.size());
  if (!fits) return false;
  return ::lseek(fd.get(), static_cast<off_t>(x.offset), SEEK_SET) >= 0 &&
         write_all(fd.get(), x.bytes) == 0;
}

/// Jobs of one file one after the other, as they came, on threads that are
/// several.
class file_lines : public std::enable_shared_from_this<file_lines> {
 public:
  explicit file_lines(std::shared_ptr<executor> aside)
      : aside_{std::move(aside)} {}

  void add(const std::filesystem::path& file, std::function<void()> job) {
    {
      const std::lock_guard lock{mutex_};
      auto& line = waiting_[file];
      line.push_back(std::move(job));
      if (line.size() > 1) return;  // behind the one that runs
    }
    go_on(file);
  }

 private:
  void go_on(const std::filesystem::path& file) {
    aside_->submit([me = shared_from_this(), file] { me->run_first(file); });
  }

  void run_first(const std::filesystem::path& file) {
    std::function<void()> job;
    {
      const std::lock_guard lock{mutex_};
      job = std::move(waiting_.at(file).front());
    }
    job();
    {
      const std::lock_guard lock{mutex_};
      const auto line = waiting_.find(file);
      line->second.pop_front();
      if (line->second.empty()) {
        waiting_.erase(line);
        return;
      }
    }
    go_on(file);
  }

  const std::shared_ptr<executor> aside_;
  std::mutex mutex_;
  std::map<std::filesystem::path, std::deque<std::function<void()>>> waiting_;
};

}  // namespace

std::shared_ptr<const config::config> with_processes(
    config::config x, const tools::registry& plain) {
  for (const auto& name : x.node.tools) {
    const auto* known = plain.find(name);
    if (known == nullptr || (*known)->spec().eff == effect::read_only) continue;
    auto& tool = x.tools.by_name
                     .try_emplace(name, config::with_tool_defaults(
                                            name, x.tools.defaults))
                     .first->second;
    if (tool.type.empty()) tool.isolation = "process";
  }
  return std::make_shared<const config::config>(std::move(x));
}

std::optional<cluster::tool_offer> offer_of(const tools::tool& tool,
                                            const config::tools_config& x) {
  const auto& about = tool.spec();
  const auto& settings = x.of(about.name);
  const auto policy = otherwise_of(x, about.name, about.eff);
  if (policy == core::approval_policy::deny) return {};
  cluster::tool_offer out;
  out.name = about.name;
  out.description = about.description;
  out.parameters = about.parameters;
  out.eff = about.eff;
  out.idempotent = about.idempotent || settings.idempotent;
  out.needs_approval = policy == core::approval_policy::ask;
  out.keys = settings.keys;
  out.timeout = settings.timeout;
  out.places = settings.concurrency;
  const auto definition = tools::ask_definition(tool);
  out.definition = sha256(definition.value_or(about.name));
  return out;
}

std::optional<std::string> why_unused(const cluster::tool_offer& offer,
                                      const tools::registry& own,
                                      const config::tools_config& settings) {
  if (auto why = tools::problem_of(offer)) return why;
  const auto* here = own.find(offer.name);
  if (here == nullptr) return {};
  const auto& nodes = settings.of(offer.name).nodes;
  if (std::ranges::all_of(nodes, [](const auto& x) { return x == "local"; }))
    return "";
  const auto& about = (*here)->spec();
  if (nlohmann::json::parse(offer.parameters, nullptr, false) !=
      nlohmann::json::parse(about.parameters, nullptr, false))
    return "its parameters are not those of this process's tool";
  if (offer.eff == effect::mutating && about.eff == effect::read_only)
    return "it changes something, and this process's tool only reads";
  const auto& keys = settings.of(offer.name).keys;
  for (const auto& key : offer.keys)
    if (std::ranges::find(keys, key) == keys.end())
      return "its node orders calls by `" + key +
             "` (keys), and this process does not";
  if (offer.needs_approval && about.eff == effect::read_only)
    return "its node asks for approval, and this process does not";
  return {};
}

std::optional<error> admit_call(tool_call& call, const tools::registry& own,
                                const config::tools_config& settings) {
  const auto& tool = *own.find(call.tool);
  const auto& about = tool->spec();
  auto arguments = own.check(call.tool, call.arguments);
  if (!arguments) return std::move(arguments.error());
  const auto policy = policy_of(*tool, settings, arguments->value);
  if (!policy) return policy.error();
  const bool denied = policy->policy == core::approval_policy::deny ||
                      !policy->in_doubt.empty();
  if (denied)
    return error{errc::approval_denied, op,
                 kept_back_by_rule(call.tool, {}, " of the node")};
  if (policy->policy == core::approval_policy::ask && !call.needs_approval)
    return error{errc::approval_denied, op, kept_back_by_node(call.tool)};
  const auto& own_limits = settings.of(call.tool);
  call.arguments = arguments->text;
  call.eff = about.eff;
  call.idempotent = about.idempotent || own_limits.idempotent;
  call.limits.timeout = shorter(call.limits.timeout, own_limits.timeout);
  call.limits.idle_timeout =
      shorter(call.limits.idle_timeout, own_limits.idle_timeout);
  call.node.clear();
  // Where it leads is this machine's business; what was looked at was not here.
  call.basis.clear();
  call.judged.reset();
  if (policy->subject.place) call.judged = policy->subject.text;
  return {};
}

std::function<caf::actor(caf::actor gate)> make_host(
    caf::actor_system& system, std::shared_ptr<const config::config> config,
    std::shared_ptr<const tools::registry> own,
    std::shared_ptr<work_board> works, std::shared_ptr<lease_board> leases,
    std::function<tool_pool_actor(const std::string&)> find_pool,
    std::filesystem::path outputs, std::shared_ptr<executor> aside,
    const std::vector<cluster::tool_offer>& offers) {
  host_setup setup;
  std::set<std::string> names;
  for (const auto& x : offers) {
    setup.places[x.name] = x.places;
    names.insert(x.name);
  }
  setup.pool = [names, find_pool](const std::string& tool) {
    return names.contains(tool) ? find_pool(tool) : tool_pool_actor{};
  };
  setup.board = std::move(works);
  setup.leases = std::move(leases);
  setup.admit = [own, config](tool_call& call) {
    return admit_call(call, *own, config->tools);
  };
  setup.admits_aside = [own, config](const std::string& name) {
    const auto* tool = own->find(name);
    return tool != nullptr && takes_a_look(**tool, config->tools);
  };
  setup.aside = [aside](std::function<void()> job) {
    aside->submit(std::move(job));
  };
  setup.most_result = config->cluster.max_frame - frame_reserve;
  if (!outputs.empty())
    setup.whole_output = [outputs](const call_id& call) -> output_stream_ptr {
      const auto file = tools::kept_file(outputs, call);
      std::error_code ignored;
      if (!file || !std::filesystem::is_regular_file(*file, ignored)) return {};
      return std::make_shared<once_read_file>(*file);
    };
  return [&system, setup](caf::actor gate) {
    auto mine = setup;
    mine.gate = std::move(gate);
    return system.spawn(call_host, std::move(mine));
  };
}

std::function<void(const storage::call_record&)> node_wait(
    const config::config& config, std::shared_ptr<storage::journal> journal) {
  struct asked {
    std::mutex mutex;
    std::map<run_id, time_point> first;
  };
  return [own = service::node_timeout(config), journal = std::move(journal),
          all = std::make_shared<asked>()](const storage::call_record& call) {
    if (call.call.node.empty() || call.attempt == 0) return;
    auto span = own;
    if (const auto run = journal->load_run(call.run))
      span = std::max(span, service::node_timeout(*run));
    time_point end;
    {
      const std::lock_guard lock{all->mutex};
      const auto now = std::chrono::steady_clock::now();
      auto& first = all->first.try_emplace(call.run, now).first->second;
      // All calls of one recovery are asked about at once; a later recovery
      // waits anew.
      if (now > first + 2 * span) first = now;
      end = first + span;
    }
    std::this_thread::sleep_until(end);
  };
}

piece_keeper keep_in(std::filesystem::path outputs,
                     std::shared_ptr<executor> aside) {
  return [outputs = std::move(outputs),
          lines = std::make_shared<file_lines>(std::move(aside))](
             const call_id& call, cluster::piece x,
             std::function<void(bool)> done) {
    const auto file = tools::kept_file(outputs, call);
    if (!file) return done(false);
    lines->add(*file, [file = *file, x = std::move(x), done = std::move(done)] {
      const bool kept = write_piece(file, x);
      std::error_code ignored;  // what cannot be kept whole is not kept
      if (!kept) std::filesystem::remove(file, ignored);
      done(kept);
    });
  };
}

}  // namespace riffle
