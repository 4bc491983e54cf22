// SPDX-License-Identifier: MIT
// All routes. What clients are told of them is openapi.json; a test compares.
#include <array>

#include "runtime/http/mcp_routes.hpp"
#include "runtime/http/other_routes.hpp"
#include "runtime/http/run_routes.hpp"

namespace riffle::http {

std::span<const route> routes() noexcept {
  constexpr std::nullopt_t open = std::nullopt;
  static const std::array all{
      route{"POST", "/v1/runs", role::run, start_run, true, true},
      route{"GET", "/v1/runs", role::read, list_runs},
      route{"GET", "/v1/runs/{id}", role::read, show_run},
      route{"GET", "/v1/runs/{id}/events", role::read, run_events},
      route{"POST", "/v1/runs/{id}/resume", role::run, resume_run, true},
      route{"POST", "/v1/runs/{id}/cancel", role::run, cancel_run, true},
      route{"POST", "/v1/runs/{id}/messages", role::run, say_to_run, true},
      route{"POST", "/v1/runs/{id}/calls/{call}/cancel", role::run, cancel_call,
            true},
      route{"GET", "/v1/runs/{id}/calls/{call}/output", role::read,
            call_output},
      route{"GET", "/v1/sessions", role::read, list_sessions},
      route{"GET", "/v1/sessions/{id}", role::read, show_session},
      route{"DELETE", "/v1/sessions/{id}", role::run, delete_session},
      route{"GET", "/v1/sessions/{id}/events", role::read, session_events},
      route{"POST", "/v1/sessions/{id}/runs", role::run, start_session_run,
            true, true},
      route{"GET", "/v1/sessions/{id}/state/{key}", role::read, get_state},
      route{"PUT", "/v1/sessions/{id}/state/{key}", role::run, put_state, true},
      route{"POST", "/v1/plans", role::run, start_plan, true, true},
      route{"GET", "/v1/plans", role::read, list_plans},
      route{"GET", "/v1/plans/{id}", role::read, show_plan},
      route{"GET", "/v1/plans/{id}/events", role::read, run_events},
      route{"POST", "/v1/plans/{id}/cancel", role::run, cancel_run, true},
      route{"POST", "/v1/volleys", role::run, start_volley, true, true},
      route{"GET", "/v1/volleys", role::read, list_volleys},
      route{"GET", "/v1/volleys/{id}", role::read, show_volley},
      route{"GET", "/v1/volleys/{id}/events", role::read, volley_events},
      route{"POST", "/v1/volleys/{id}/cancel", role::run, cancel_volley, true},
      route{"GET", "/v1/proposals", role::read, list_proposals},
      route{"POST", "/v1/proposals/{id}", role::decide, decide, true},
      route{"GET", "/v1/grants", role::read, list_grants},
      route{"DELETE", "/v1/grants/{id}", role::decide, revoke_grant},
      route{"GET", "/v1/events", role::read, all_events},
      route{"GET", "/v1/tools", role::read, list_tools},
      route{"GET", "/v1/agents", role::read, list_agents},
      route{"POST", "/v1/login", open, log_in, true},
      route{"POST", "/v1/logout", open, log_out, true},
      route{"POST", "/mcp", role::run, serve_mcp, true, true},
      route{"GET", "/healthz", open, health},
      route{"GET", "/readyz", open, ready},
      route{"GET", "/metrics", role::read, metrics},
      route{"GET", "/openapi.json", open, openapi},
  };
  return all;
}

}  // namespace riffle::http
