// SPDX-License-Identifier: MIT
#include "tools/builtin/files/shown_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/media.hpp"
#include "tools/builtin/files/file_failure.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

/// At most so many bytes and one more; or an errno.
tl::expected<std::string, int> read_bytes(int fd, std::uint64_t most) {
  std::string out;
  std::array<char, 65536> piece;  // filled by what is read
  while (out.size() <= most) {
    const auto count =
        ::pread(fd, piece.data(),
                std::min<std::uint64_t>(piece.size(), most + 1 - out.size()),
                static_cast<off_t>(out.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected{errno};
    if (count == 0) break;
    out.append(piece.data(), static_cast<std::size_t>(count));
  }
  return out;
}

tool_output shown(const open_file& file, std::string bytes) {
  const auto name = std::filesystem::path{file.name}.filename().string();
  auto about = *describe_media(name, bytes);
  // A change that leaves the size is a change of the text, too.
  tool_output out{.text = file.name + " is shown with this result: " +
                          about.type + ", " + size_text(about.bytes) +
                          ", SHA-256 " + about.digest.substr(0, 12)};
  out.metadata = nlohmann::json{
      {"path", file.name},
      {"type", about.type},
      {"bytes",
       about.bytes}}.dump();
  out.files.push_back({std::move(about), std::move(bytes)});
  return out;
}

}  // namespace

std::optional<tool_output> show_file(std::string_view op, const open_file& file,
                                     std::string_view head,
                                     const tool_context& context) {
  const auto& types = context.files.types;
  if (types.empty()) return std::nullopt;
  const auto type = media_type_of(head);
  if (type.empty() || std::ranges::find(types, type) == types.end())
    return std::nullopt;
  const auto most = context.files.most_bytes;
  auto bytes = read_bytes(file.fd.get(), file.size > most ? 0 : most);
  if (!bytes) return cannot_read(op, file.name, bytes.error());
  if (file.size > most || bytes->size() > most)
    return file_failure(
        op, errc::tool_execution_error,
        file.name + " (" + std::string{type} + ") has " + size_text(file.size) +
            ", and at most " + size_text(most) +
            " can be shown (attachments.max_file_bytes); make a smaller one "
            "and read that");
  // It may have changed since its first bytes were read.
  if (media_type_of(*bytes) != type) return std::nullopt;
  return shown(file, std::move(*bytes));
}

}  // namespace riffle::tools
