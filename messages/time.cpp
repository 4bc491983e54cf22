// SPDX-License-Identifier: MIT
#include "messages/time.hpp"

#include <algorithm>
#include <cstddef>

namespace riffle {

namespace {

constexpr std::string_view form = "0000-00-00T00:00:00.000000Z";
static_assert(form.size() == time_text_size);

constexpr std::int64_t us_per_day = 86'400'000'000;

// The form has four digits for the year: 0000-01-01 to 9999-12-31.
constexpr std::int64_t first_us = -719'528 * us_per_day;
constexpr std::int64_t last_us = 2'932'897 * us_per_day - 1;

void put(std::span<char> text, std::size_t at, std::size_t digits,
         std::int64_t value) {
  for (std::size_t i = digits; i-- > 0; value /= 10)
    text[at + i] = static_cast<char>('0' + value % 10);
}

std::int64_t get(std::string_view text, std::size_t at, std::size_t digits) {
  std::int64_t value = 0;
  for (char c : text.substr(at, digits)) value = value * 10 + (c - '0');
  return value;
}

bool has_form(std::string_view text) {
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == '0' ? !digit : text[i] != form[i]) return false;
  }
  return true;
}

}  // namespace

std::string to_string(wall_time x) {
  std::string text(time_text_size, ' ');
  write(x, std::span<char, time_text_size>{text});
  return text;
}

void write(wall_time x, std::span<char, time_text_size> out) {
  using namespace std::chrono;
  const microseconds us{std::clamp(x.us, first_us, last_us)};
  const auto day = floor<days>(us);
  const year_month_day date{sys_days{day}};
  const auto rest = (us - day).count();
  std::copy(form.begin(), form.end(), out.begin());
  put(out, 0, 4, static_cast<int>(date.year()));
  put(out, 5, 2, static_cast<unsigned>(date.month()));
  put(out, 8, 2, static_cast<unsigned>(date.day()));
  put(out, 11, 2, rest / 3'600'000'000);
  put(out, 14, 2, rest / 60'000'000 % 60);
  put(out, 17, 2, rest / 1'000'000 % 60);
  put(out, 20, 6, rest % 1'000'000);
}

bool parse(std::string_view text, wall_time& out) {
  using namespace std::chrono;
  if (!has_form(text)) return false;
  const year_month_day date{year{static_cast<int>(get(text, 0, 4))},
                            month{static_cast<unsigned>(get(text, 5, 2))},
                            day{static_cast<unsigned>(get(text, 8, 2))}};
  const auto hour = get(text, 11, 2);
  const auto minute = get(text, 14, 2);
  const auto second = get(text, 17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return false;
  const auto seconds = (hour * 60 + minute) * 60 + second;
  out.us = sys_days{date}.time_since_epoch().count() * us_per_day +
           seconds * 1'000'000 + get(text, 20, 6);
  return true;
}

}  // namespace riffle
