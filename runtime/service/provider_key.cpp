// SPDX-License-Identifier: MIT
#include "runtime/service/provider_key.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "runtime/base/expired_secrets.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/providers.hpp"
#include "tools/process/guard.hpp"
#include "tools/process/process.hpp"

namespace riffle::service {

namespace {

constexpr const char* runtime_op = "runtime";
constexpr auto longest_run = std::chrono::seconds{30};
constexpr std::size_t most_old = 16;  // keys that requests may still have
constexpr std::size_t most_output = 64u << 10;

unexpected bad_config(std::string message) {
  return unexpected{
      error{errc::invalid_config, runtime_op, std::move(message), false, {}}};
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

/// It becomes a word of a line of a request: with another line in it, a server
/// would see a header that nobody set.
bool is_word(std::string_view key) {
  return !has_control(key) && key.find(' ') == key.npos;
}

/// The key is not repeated.
expected<std::string> check_key(std::string key, const std::string& variable) {
  if (is_word(key)) return key;
  return bad_config(
      "the API key in the environment variable " + variable +
      " holds a blank, a line end or another control character: set it without "
      "(often it is the last one: $(cat FILE) leaves it out)");
}

class collected final : public tools::process_listener {
 public:
  void on_output(tools::output_stream from, std::string_view bytes) override {
    auto& to = from == tools::output_stream::out ? out : err;
    to.append(bytes.substr(0, most_output - std::min(most_output, to.size())));
  }

  std::string out;
  std::string err;
};

std::string first_line(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    if (!line.empty()) return std::string{line};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

/// Keys that programs printed, and how many have each: two models may run the
/// same one.
struct held_keys {
  std::mutex mutex;
  std::map<std::string, std::size_t> counts;
};

held_keys& all_held() {
  static auto* const x = new held_keys;  // threads may outlive statics
  return *x;
}

void hold(const std::string& key) {
  auto& x = all_held();
  const std::lock_guard lock{x.mutex};
  ++x.counts[key];
  add_secret(key);
}

/// No request has it any more: a server that renews its keys for months must
/// not look for each of them in every text.
void let_go(const std::string& key) {
  auto& x = all_held();
  const std::lock_guard lock{x.mutex};
  const auto found = x.counts.find(key);
  if (found == x.counts.end() || --found->second > 0) return;
  x.counts.erase(found);
  forget_secret(key);
}

error stopped(const std::string& name) {
  return {errc::cancelled,
          runtime_op,
          "asked to stop while " + name + " ran",
          false,
          {}};
}

std::string how_it_ended(const tools::process_end& x) {
  using why = tools::process_end::why;
  if (x.how == why::timed_out) return "did not end within 30 s";
  if (x.how == why::signalled)
    return "was ended by signal " + std::to_string(x.signal);
  return "ended with status " + std::to_string(x.exit_code);
}

}  // namespace

bool is_loopback(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  if (!url.starts_with(scheme)) return false;
  url.remove_prefix(scheme.size());
  const auto host = url.substr(0, url.find_first_of("/?#"));
  if (host.find('@') != std::string_view::npos) return false;
  const auto name = host.substr(0, host.rfind(':'));
  // 127.0.0.0/8 in digits: "127.example.org" is a name like any.
  const bool is_number =
      name.starts_with("127.") &&
      name.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_number || name == "localhost" || host == "[::1]" ||
         host.starts_with("[::1]:");
}

expected<std::string> expand(const std::string& text, const std::string& what,
                             bool secret) {
  std::string out;
  std::string_view rest = text;
  for (auto at = rest.find("${"); at != rest.npos; at = rest.find("${")) {
    const auto end = rest.find('}', at);
    if (end == rest.npos) break;
    const std::string name{rest.substr(at + 2, end - at - 2)};
    // A key that was taken out of the environment is found by `read_key` alone.
    const char* plain = secret ? nullptr : std::getenv(name.c_str());
    const auto value =
        plain && *plain ? std::optional<std::string>{plain} : read_key(name);
    if (!value)
      return bad_config(what + " needs the environment variable " + name +
                        ", which is not set");
    if (has_control(*value))
      return bad_config("the environment variable " + name + ", for " + what +
                        ", holds a line end or another control character");
    out.append(rest.substr(0, at)).append(*value);
    rest.remove_prefix(end + 1);
  }
  return out.append(rest);
}

expected<std::string> key_of_variable(const config::model_config& model,
                                      const std::string& url, bool lent) {
  if (model.api_key_env.empty() || model.dialect == "scripted") return "";
  if (auto key = read_key(model.api_key_env))
    return check_key(*std::move(key), model.api_key_env);
  if (lent || is_loopback(url)) return "";
  const auto* known = config::provider_of(model);
  const bool own = known != nullptr && url == known->settings.base_url;
  return bad_config(
      "there is no API key for " +
      (own ? known->name : (known ? known->name + " at " : "") + redact(url)) +
      ": set the environment variable " + model.api_key_env +
      ", or api_key_env = \"\" in the model's configuration if the server "
      "needs none");
}

expected<std::string> run_key_command(const std::vector<std::string>& command,
                                      std::stop_token stop) {
  const auto name = "api_key_command (" + command.front() + ")";
  if (!tools::can_be_guard())
    return bad_config(name +
                      " is run under a guard, which is this program started "
                      "once more: call riffle::worker_main(argc, argv) first "
                      "in main");
  tools::process_request request;
  request.command = command;
  std::error_code ignored;
  request.folder = std::filesystem::current_path(ignored);
  request.environment = environment_without_keys();
  request.space = tools::pid_space::shared;
  request.deadline = std::chrono::steady_clock::now() + longest_run;
  collected said;
  const auto end = tools::run_process(request, said, stop);
  if (stop.stop_requested()) return unexpected{stopped(name)};
  if (!end) return bad_config(name + ": " + end.error().message);
  const bool well =
      end->how == tools::process_end::why::exited && end->exit_code == 0;
  if (!well)
    return bad_config(name + " " + how_it_ended(*end) +
                      (first_line(said.err).empty() ? "" : ": ") +
                      first_line(said.err));
  auto key = first_line(said.out);
  add_secret(key);
  if (key.empty()) return bad_config(name + " printed no key");
  if (!is_word(key))
    return bad_config(name +
                      " printed a key with blanks or control characters");
  return key;
}

/// The right to run the program, for as long as it lives. Who had to wait for
/// another one's run takes what came of that, and does not get it.
class command_key::turn {
 public:
  turn(command_key& of, const std::stop_token& stop) : of_{of} {
    std::unique_lock lock{of.mutex_};
    const auto seen = of.runs_;
    const bool over = of.ran_.wait(
        lock, stop, [&] { return !of.running_ || of.runs_ != seen; });
    waited_ = of.runs_ != seen;
    mine_ = over && !waited_;
    if (mine_) of.running_ = true;
  }
  ~turn() {
    if (!mine_) return;
    {
      const std::lock_guard lock{of_.mutex_};
      of_.running_ = false;
    }
    of_.ran_.notify_all();
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

  /// Neither: it was asked to stop before.
  [[nodiscard]] bool mine() const noexcept { return mine_; }
  [[nodiscard]] bool waited() const noexcept { return waited_; }

 private:
  command_key& of_;
  bool mine_ = false;
  bool waited_ = false;
};

expected<std::string> command_key::get(const std::stop_token& stop) {
  const turn now{*this, stop};
  if (!now.mine() && !now.waited())
    return unexpected{stopped("api_key_command")};
  {
    const std::lock_guard lock{mutex_};
    if (!key_.empty()) return key_;
    if (now.waited()) return unexpected{failed_};
  }
  return run(stop);
}

expected<std::string> command_key::run(const std::stop_token& stop) {
  auto key = run_key_command(command_, stop);
  const std::lock_guard lock{mutex_};
  // Nothing came of it: the next one runs it.
  if (!key && stop.stop_requested()) return key;
  ++runs_;
  if (!key) {
    failed_ = key.error();
    return key;
  }
  const bool known = key_ == *key || std::erase(old_, *key) > 0;
  if (!known) hold(*key);
  if (!key_.empty() && key_ != *key) old_.push_back(key_);
  if (old_.size() > most_old) {
    let_go(old_.front());
    old_.pop_front();
  }
  key_ = *key;
  return key;
}

void command_key::put_key(model::transport_request& request) {
  const std::lock_guard lock{mutex_};
  replace(request);
}

void command_key::replace(model::transport_request& request) const {
  for (auto& header : request.headers)
    for (const auto& old : old_)
      if (header.ends_with(old)) {
        header.replace(header.size() - old.size(), old.size(), key_);
        break;
      }
}

bool command_key::renew(model::transport_request& request,
                        const std::stop_token& stop) {
  const turn now{*this, stop};
  if (!now.mine() && !now.waited()) return false;
  const auto before = request.headers;
  put_key(request);
  if (request.headers != before) return true;  // another one had it renewed
  if (now.waited()) return false;              // it had no better one
  std::string refused;
  {
    const std::lock_guard lock{mutex_};
    refused = key_;
  }
  const auto key = run(stop);
  if (!key) {
    log_warn(runtime_op, "no new key: " + key.error().message);
    return false;
  }
  put_key(request);
  return *key != refused;
}

}  // namespace riffle::service
