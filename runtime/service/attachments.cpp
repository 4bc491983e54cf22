// SPDX-License-Identifier: MIT
#include "runtime/service/attachments.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "runtime/base/media.hpp"
#include "runtime/base/read_within.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/model/dialect.hpp"

namespace riffle::service {

namespace {

/// A name as a part of a key: with quotation marks where TOML wants them.
std::string key_of(const std::string& name) {
  const bool bare = std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
  return bare ? name : config::in_quotes(name);
}

constexpr std::array<std::string_view, 5> media{
    "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"};

unexpected refused(const std::string& name, const std::string& why) {
  return unexpected{error{errc::invalid_request, "attachments",
                          "the attachment " + name + " " + why}};
}

std::string name_of(const attachment_source& x) {
  if (!x.name.empty()) return x.name;
  return x.file.empty() ? "file" : x.file.filename().string();
}

expected<std::string> bytes_of(const attachment_source& x,
                               std::uint64_t limit) {
  if (x.file.empty()) return x.bytes;
  std::error_code unknown;
  const auto size = std::filesystem::file_size(x.file, unknown);
  const auto named = x.file.string();
  const auto too_large =
      "has more than " + std::to_string(limit) +
      " bytes: make it smaller, or raise attachments.max_file_bytes";
  if (!unknown && size > limit) return refused(named, too_large);
  read_limits limits;
  limits.bytes = limit;
  auto text = read_within(x.file, limits);
  if (!text) return refused(named, text.error());
  return std::move(*text);
}

}  // namespace

expected<std::vector<loaded_attachment>> load_attachments(
    const std::vector<attachment_source>& sources,
    const config::attachments_config& limits) {
  std::vector<loaded_attachment> out;
  std::uint64_t sum = 0;
  for (const auto& x : sources) {
    auto bytes = bytes_of(x, limits.max_file_bytes);
    if (!bytes) return unexpected{std::move(bytes.error())};
    const auto shown = x.file.empty() ? name_of(x) : x.file.string();
    if (bytes->size() > limits.max_file_bytes)
      return refused(shown, "has more than " +
                                std::to_string(limits.max_file_bytes) +
                                " bytes: make it smaller, or raise "
                                "attachments.max_file_bytes");
    auto about = describe_media(name_of(x), *bytes);
    if (!about)
      return refused(shown,
                     "is no picture (png, jpeg, gif, webp) and no PDF, by its "
                     "first bytes: give a text with --context-file, or let "
                     "the agent read the file");
    sum += bytes->size();
    if (sum > limits.max_total_bytes)
      return refused(shown,
                     "is too much with those before it: together they "
                     "have more than " +
                         std::to_string(limits.max_total_bytes) +
                         " bytes (attachments.max_total_bytes)");
    out.push_back({std::move(*about),
                   std::make_shared<const std::string>(std::move(*bytes))});
  }
  return out;
}

std::vector<std::string> shown_types(const config::model_config& x) {
  std::vector<std::string> out;
  for (const auto type : media) {
    const auto* word = type.starts_with("image/") ? "images" : "pdf";
    if (std::ranges::find(x.attachments, word) != x.attachments.end() &&
        model::can_show(x.dialect, type))
      out.emplace_back(type);
  }
  return out;
}

expected<void> check_shown(const std::vector<attachment>& all,
                           const std::vector<std::string>& types,
                           const std::string& model) {
  for (const auto& x : all) {
    if (std::ranges::find(types, x.type) != types.end()) continue;
    const bool none = types.empty();
    return refused(x.name, "(" + x.type + ") cannot be shown to the model " +
                               model + ", which takes " +
                               (none ? "text only" : "pictures only") +
                               ": choose another model with -m, or say what "
                               "it takes in models." +
                               key_of(model) + ".attachments");
  }
  return {};
}

}  // namespace riffle::service
