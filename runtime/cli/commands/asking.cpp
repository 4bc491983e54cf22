// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/asking.hpp"

#include <cstdlib>
#include <utility>

#include "runtime/cli/terminal/terminal_kind.hpp"
#include "runtime/cli/view/run_output.hpp"

namespace riffle::cli {

std::optional<approval_prompt> prompt_for(std::optional<unique_fd>& keyboard,
                                          asked_work work,
                                          const common_options& options,
                                          const interrupts& signals,
                                          const console& io) {
  std::optional<approval_prompt> out;
  if (!keyboard) return out;
  const bool color = use_color(options, io.err);
  out.emplace(std::move(*keyboard),
              approval_prompt::surroundings{
                  work.rt, std::move(work.stop), std::move(work.show),
                  [&signals] { return signals.asked_to_stop(); },
                  [&io, color, stops = std::move(work.stops)] {
                    return dialog_options{
                        io.err.columns(),    io.err.rows(), color,
                        locale_lacks_utf8(), !can_erase(),  stops};
                  },
                  work.typing});
  return out;
}

void tell_unasked(std::uint32_t calls, const std::string& it,
                  const common_options& options, console& io) {
  if (calls == 0 || options.level == verbosity::quiet) return;
  io.complain(
      (calls == 1 ? std::string{"a call was"}
                  : std::to_string(calls) + " calls were") +
      " denied since nobody could be asked: run " + it +
      " at a terminal, choose by --approve ask|all|none, or allow such calls "
      "by rules of the configuration");
}

void ring(const show_options& show, std::string_view what, console& io) {
  if (!show.notify || !io.err.is_terminal()) return;
  const char* term = std::getenv("TERM");
  std::string out;
  if (term && std::string_view{term} != "dumb")
    out.append("\x1b]9;Riffle: ").append(what).append("\x1b\\");
  io.err.write(out + "\a");
}

void ring_at_question(const show_options& show, const event& x, console& io) {
  if (std::holds_alternative<events::approval_required>(x.body))
    ring(show, "a call waits for your answer", io);
}

}  // namespace riffle::cli
