// SPDX-License-Identifier: MIT
#include "runtime/service/model_exchange.hpp"

#include <utility>

namespace riffle::service {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t most_bytes = 16u << 20;

}  // namespace

void gathered_answer::on_bytes(std::string bytes) {
  const std::lock_guard lock{mutex_};
  received_ += bytes.size();
  reads.push_back(std::move(bytes));
}

void gathered_answer::on_end(model::transport_end x) {
  const std::lock_guard lock{mutex_};
  end_ = std::move(x);
  ended_.notify_all();
}

bool gathered_answer::wait(std::chrono::milliseconds length) {
  std::unique_lock lock{mutex_};
  return ended_.wait_for(lock, length, [this] { return end_.has_value(); });
}

std::size_t gathered_answer::received() const {
  const std::lock_guard lock{mutex_};
  return received_;
}

void gathered_answer::fail(error why) {
  const std::lock_guard lock{mutex_};
  end_->failure = std::move(why);
}

std::string gathered_answer::body() const {
  std::string out;
  for (const auto& bytes : reads) out += bytes;
  return out;
}

model::transport_request begin_request(const model_link& link,
                                       const model::dialect& dialect,
                                       const config::model_config& model) {
  model::transport_request out;
  out.headers = dialect.headers(link.key);
  out.headers.insert(out.headers.end(), link.headers.begin(),
                     link.headers.end());
  const auto& limits = model.timeouts;
  out.timeouts = {limits.connect, limits.first_byte, limits.idle, limits.total};
  return out;
}

std::shared_ptr<gathered_answer> exchange(model::transport& transport,
                                          model::transport_request request,
                                          const std::stop_token& stop,
                                          std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds look{20};
  const auto begin = steady_clock::now();
  auto answer = std::make_shared<gathered_answer>();
  request.credit = most_bytes;
  const auto id = transport.open(std::move(request), answer);
  bool over = false;
  bool flooded = false;
  while (!answer->wait(look)) {
    const bool late = limit.count() > 0 && steady_clock::now() - begin > limit;
    // Nobody grants more, and what waits for that has no other limit.
    const bool full = answer->received() >= most_bytes;
    if (!over && (late || full || stop.stop_requested())) {
      over = true;
      flooded = full;
      transport.cancel(id);
    }
  }
  if (flooded)
    answer->fail({errc::model_error, "models",
                  "the server's answer has no end within " +
                      std::to_string(most_bytes >> 20) + " MiB"});
  return answer;
}

}  // namespace riffle::service
