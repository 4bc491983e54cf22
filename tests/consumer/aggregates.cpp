// SPDX-License-Identifier: MIT
// Every documented aggregate with one member named, as an application writes
// it; compiled with -Wall -Wextra -Werror. Run, it says its library's version.
#include <iostream>

#include <riffle/plans.hpp>
#include <riffle/riffle.hpp>
#include <riffle/testing.hpp>
#include <riffle/volley.hpp>

#include "messages/event.hpp"

#if RIFFLE_VERSION_MAJOR * 10000 + RIFFLE_VERSION_MINOR * 100 + \
        RIFFLE_VERSION_PATCH !=                                 \
    RIFFLE_VERSION_NUMBER
#error "the version contradicts itself"
#endif

#if defined(SPDLOG_COMPILED_LIB) || defined(SPDLOG_FMT_EXTERNAL) || \
    defined(SPDLOG_SHARED_LIB) || defined(FMT_SHARED) ||            \
    defined(FMT_HEADER_ONLY) || defined(TOML_SHARED_LIB) ||         \
    defined(TOML_HEADER_ONLY) || defined(CAF_ENABLE_TYPE_ID_CHECKS)
#error "a definition of a library that Riffle stands on"
#endif

static_assert(consumer::answer == 42);

namespace {

template <class... T>
std::size_t count(const T&... /*all*/) {
  return sizeof...(T);
}

std::size_t of_the_runtime() {
  using namespace riffle;
  return count(run_request{.task = "x"}, run_request{.agent = "x"},
               decision{.approved = true}, resume_options{.max_steps = 1},
               run_outcome{.answer = "x"},
               decided{.verdict = decision_verdict::unknown},
               runtime_options{.tools = {}}, runtime_options{.scripts = {}},
               runtime_options{.transport = nullptr},
               runtime_options{.log = {}}, proposal_filter{.id = {}},
               error{.code = errc::internal}, call_result{.output = "x"},
               rule_subject{.text = "x"}, tool_progress_report{.message = "x"},
               token_usage{.input_tokens = 1}, call_limits{.attempts = 1},
               tool_call{.tool = "x"}, event{.seq = 1}, run_id{.value = "x"},
               log_field{.key = "x"}, log_line{.op = "x"}, wall_time{.us = 1});
}

std::size_t of_requests() {
  using namespace riffle;
  return count(attachment_source{.name = "x"}, attachment{.name = "x"},
               request_origin{.own = true}, shared_texts{.surroundings = {}},
               plan_request{.with = {}}, volley_request{.workers = 1},
               task_result{.task = 1}, server_prompt{.about = "x"},
               server_prompt::argument{.name = "x"}, session_summary{.runs = 1},
               file_change{.tool = "edit"}, other_call{.tool = "bash"},
               session_changes{.files = {}}, removed_sessions{.runs = 1},
               kept_output{.text = "x"}, plan_chunk{.step_id = "x"},
               plan_tool_result{.tool = "x"}, volley_update{.task = 1},
               volley_update::begun{.session = {}});
}

std::size_t of_tools() {
  using namespace riffle;
  return count(tools::tool_spec{.name = "x"}, tools::tool_output{.text = "x"},
               tools::tool_context{.attempt = 1},
               tools::read_claim{.sweeps = true}, taken_files{.types = {}},
               result_file{.bytes = "x"}, tool_traits{.title = {}},
               tool_traits{.preview = {}}, testing::trial_options{.attempt = 2},
               testing::tool_trial{.title = "x"},
               testing::agent_trial{.outcome = {}});
}

std::size_t of_events() {
  using namespace riffle::events;
  return count(run_started{.task = "x"}, step_start{.step = 1},
               step_restarted{.step = 1}, llm_token{.content = "x"},
               llm_reasoning{.content = "x"}, tool_call{.tool = "x"},
               tool_progress{.tool = "x"}, tool_result{.tool = "x"},
               plan_updated{.action = "x"}, approval_required{.tool = "x"},
               approval_resolved{.by = "x"}, proposal{.summary = "x"},
               usage{.step = 1}, retry{.attempt = 1}, status{.text = "x"},
               failure{.err = {}}, final_answer{.content = "x"},
               run_finished{.steps = 1}, plan_started{.plan = {}},
               plan_step_started{.id = "x"}, plan_step_finished{.id = "x"},
               plan_finished{.duration_ms = 1}, user_message{.step = 1});
}

std::size_t of_the_configuration() {
  using namespace riffle::config;
  return count(log_config{.level = "x"}, runtime_config{.threads = 1},
               timeouts_config{.connect = {}}, retry_config{.base = {}},
               price_config{.input = 1}, model_config{.model = "x"},
               budget_config{.tokens = 1}, agent_config{.model = "x"},
               approval_rule{.match = "x"}, json_object{.text = "x"},
               command_config{.command = {}}, tool_config{.concurrency = 1},
               tools_config{.defaults = {}}, supervision_config{.intensity = 1},
               publish_config{.output_limit = 1}, approvals_config{.mode = "x"},
               server_config{.listen = "x"}, tls_config{.ca = "x"},
               cluster_config{.name = "x"}, config{.runtime = {}},
               mistake{.line = 1}, load_request{.sets = {}},
               setting{.key = "x"}, parameters_config{.seed = 1},
               attachments_config{.max_file_bytes = 1},
               node_config{.labels = {}}, mcp_config{.command = {}},
               mcp_auth_config{.scope = "x"}, mcp_server_config{.tools = {}},
               mcp_tool_config{.effect = "x"}, server_limits_config{.runs = 1},
               server_tls_config{.key = "x"}, token_config{.roles = {}});
}

std::size_t of_ports() {
  using namespace riffle::storage;
  using namespace riffle::model;
  return count(event_block{.first_seq = 1}, run_record{.task = "x"},
               message_record{.text = "x"}, riffle::turn_state{.text = "x"},
               attempt_record{.number = 1}, call_record{.attempt = 1},
               output_record{.text = "x"}, state_value{.key = "x"},
               commit_unit{.changes = {}}, session_snapshot{.runs = {}},
               run_snapshot{.last_seq = 1}, unfinished_run{.owner_name = "x"},
               cancel_request{.reason = "x"}, event_page{.end = true},
               proposal_record{.tool = "x"}, decision_record{.by = "x"},
               proposal_state{.what = {}}, decision_answer{.now = {}},
               proposal_filter{.undecided = true}, grant_record{.tool = "x"},
               checked_decision{.store = {}}, file_record{.digest = "x"},
               feed_place{.commit = 1}, feed_entry{.run = {}},
               feed_page{.entries = {}}, run_filter{.limit = 1},
               model_advice{.not_found = "x"}, transport_request{.url = "x"},
               transport_end{.http_status = 1}, transport_timeouts{.idle = {}});
}

}  // namespace

int main() {
  const auto all = of_the_runtime() + of_requests() + of_tools() + of_events() +
                   of_the_configuration() + of_ports();
  const auto name = riffle::to_string(riffle::errc::not_found);
  riffle::config::config quiet;
  quiet.runtime.log.level = "error";
  auto made = riffle::runtime::create(
      quiet, {.journal = riffle::storage::make_memory_journal()});
  if (all == 0 || name != "not_found" || !made) return 1;
  std::cout << RIFFLE_VERSION << '\n';
}
