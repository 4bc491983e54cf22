// SPDX-License-Identifier: MIT
#pragma once

// Tasks, plans and volleys as clients send them, to what the service takes.
// Pure.

#include "runtime/config/config.hpp"
#include "runtime/http/message.hpp"
#include "runtime/http/tokens.hpp"
#include "runtime/service/requests.hpp"

namespace riffle::http {

/// What a token that may use some agents only may not ask of them: more steps
/// than they have, another model. Fails with `invalid_request`.
expected<void> check_bounds(const run_request& x, const caller& who,
                            const config::config& config);

/// `POST /v1/runs`. Fails with `invalid_request`, which names the member: one
/// that is unknown, or of another type. `who` may not everything.
expected<run_request> read_run(const json& body, const caller& who);

/// `POST /v1/plans`.
expected<plan_request> read_plan_request(const json& body, const caller& who);

/// `POST /v1/volleys`.
expected<volley_request> read_volley(const json& body, const caller& who);

/// The id that belongs to an `Idempotency-Key` of a caller, with a prefix such
/// as "run_": the same key gives the same run, for as long as that is kept.
/// Nothing: no key was sent. Fails if it is too long.
expected<std::optional<std::string>> id_of_key(const request& x,
                                               const caller& who,
                                               std::string_view prefix);
/// Of what was asked for: another one under the same key is a mistake.
std::string digest_of(const request& x);

}  // namespace riffle::http
