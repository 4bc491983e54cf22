// SPDX-License-Identifier: MIT
#include "runtime/service/single_call.hpp"

#include <fstream>
#include <system_error>
#include <utility>

#include "runtime/storage/file_records.hpp"

namespace riffle::service {

namespace {

/// Whatever is in it, its line as JSON stays below 8 MiB.
constexpr std::size_t longest_output = std::size_t{1} << 20;
/// Whatever output_limit says: it travels in one line.
constexpr std::size_t longest_told = std::size_t{1} << 20;

std::uint64_t size_of(const kept_output& x) {
  if (x.file.empty()) return x.text.size();
  std::error_code gone;
  const auto size = std::filesystem::file_size(x.file, gone);
  return gone ? 0 : size;
}

/// Without those that cannot be read, which the text then says.
void add_files(mcp::call_end& to, const storage::call_record& call,
               storage::journal& journal, const session_id& session) {
  if (call.attachments.empty()) return;
  auto* has = dynamic_cast<storage::file_records*>(&journal);
  const auto kept = has == nullptr
                        ? expected<storage::kept_files>{storage::kept_files{}}
                        : has->load_files(session);
  for (const auto& about : call.attachments) {
    const auto bytes =
        kept ? kept->find(about.digest) : decltype(kept->end()){};
    if (kept && bytes != kept->end()) {
      to.files.push_back(
          {about.name, about.type, about.digest, *bytes->second});
    } else {
      to.good = false;
      to.text += "\n" + describe(about) + " cannot be read";
    }
  }
}

}  // namespace

bool is_single_call(const session_id& x) noexcept {
  return x.value.starts_with(single_call_prefix);
}

bool is_waited_for(const run_id& x) noexcept {
  return x.value.starts_with(single_call_prefix) ||
         x.value.starts_with(waited_for_prefix);
}

expected<plan_request> plan_of_single_call(const tools::registry& all,
                                           const std::string& tool,
                                           const mcp::json& arguments) {
  if (auto ok = all.check(tool, mcp::to_text(arguments)); !ok)
    return unexpected{std::move(ok.error())};
  plan_request out;
  out.plan = mcp::plan_of_call(tool, arguments);
  out.name = tool;
  return out;
}

std::string without_step(const std::string& why) {
  constexpr std::string_view begin = "step 1 \"";
  constexpr std::string_view end = "\": ";
  const auto at = why.find(begin);
  if (at == why.npos) return why;
  const auto behind = why.find(end, at + begin.size());
  return behind == why.npos ? why : why.substr(behind + end.size());
}

mcp::call_end told_of(const single_call_end& x, const sessions& all,
                      storage::journal& journal, bool links) {
  mcp::call_end out;
  const session_id session{x.run.value};
  const auto record = all.show(session);
  if (!record || record->calls.empty()) {
    out.good = x.completed && record.has_value();
    out.text = out.good      ? x.answer
               : x.completed ? render(record.error())
                             : without_step(x.why);
    return out;
  }
  const auto& call = record->calls.back();
  out.good = x.completed;
  out.text = call.told;
  if (!x.completed && !call.err) out.text = without_step(x.why);
  const auto kept = all.output(call.call.id);
  const auto whole = kept ? size_of(*kept) : 0;
  // Told are characters, and with what failed also why: where all of it is
  // there, so is its end.
  const bool cut =
      kept && (!kept->file.empty() || out.text.size() > longest_told ||
               !out.text.ends_with(kept->text));
  const auto size = out.text.size();
  out.text = mcp::first_part(std::move(out.text), size, longest_told);
  if (cut && links) {
    out.output = mcp::output_uri(call.call.id.value);
    out.output_bytes = whole;
  }
  add_files(out, call, journal, session);
  return out;
}

expected<std::string> first_part_of(const kept_output& x) {
  if (x.file.empty())
    return mcp::first_part(x.text, x.text.size(), longest_output);
  std::ifstream in{x.file, std::ios::binary};
  std::string text(longest_output, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || !in.is_open())
    return unexpected{error{errc::storage_unavailable, "sessions",
                            x.file.string() + " cannot be read"}};
  text.resize(static_cast<std::size_t>(in.gcount()));
  return mcp::first_part(std::move(text), size_of(x), longest_output);
}

}  // namespace riffle::service
