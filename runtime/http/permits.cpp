// SPDX-License-Identifier: MIT
#include "runtime/http/permits.hpp"

#include <utility>

namespace riffle::http {

struct permits::held final : stream_permit {
  held(std::shared_ptr<book> of, caller_ptr whose, std::string by)
      : in{std::move(of)}, who{std::move(whose)}, cookie{std::move(by)} {}
  ~held() {
    const std::lock_guard lock{in->mutex};
    in->all.erase(place);
    const auto mine = in->of_token.find(who->name);
    if (--mine->second == 0) in->of_token.erase(mine);
  }
  held(const held&) = delete;
  held& operator=(const held&) = delete;

  const std::shared_ptr<book> in;
  const caller_ptr who;
  const std::string cookie;
  std::list<held*>::iterator place;
};

std::shared_ptr<stream_permit> permits::give(caller_ptr who,
                                             std::string cookie) {
  const std::lock_guard lock{book_->mutex};
  auto& mine = book_->of_token[who->name];
  if (mine >= most_of_one_ || book_->all.size() >= most_) {
    if (mine == 0) book_->of_token.erase(who->name);
    return nullptr;
  }
  ++mine;
  auto made = std::make_shared<held>(book_, std::move(who), std::move(cookie));
  made->place = book_->all.insert(book_->all.end(), made.get());
  return made;
}

/// One whose last holder goes meanwhile waits for the lock, then leaves.
void permits::withdraw_unless(const std::function<bool(const caller&)>& keeps) {
  const std::lock_guard lock{book_->mutex};
  for (auto* one : book_->all)
    if (!keeps(*one->who)) one->withdrawn = true;
}

void permits::withdraw_cookie(const std::string& cookie) {
  const std::lock_guard lock{book_->mutex};
  for (auto* one : book_->all)
    if (!cookie.empty() && one->cookie == cookie) one->withdrawn = true;
}

}  // namespace riffle::http
