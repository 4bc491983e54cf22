// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/http/site.hpp"

namespace riffle::http {

// sessions
void list_sessions(call c);
void show_session(call c);
void delete_session(call c);
void session_events(call c);
void get_state(call c);
void put_state(call c);

// proposals
void list_proposals(call c);
void decide(call c);
void list_grants(call c);
void revoke_grant(call c);

// volleys
void start_volley(call c);
void list_volleys(call c);
void show_volley(call c);
void cancel_volley(call c);
void volley_events(call c);
/// With its record, if the caller may see it.
expected<service::volley_record> visible_volley(const call& c,
                                                const std::string& id);

// all that the caller may see
void all_events(call c);

// what there is, and how it is
void list_tools(call c);
void list_agents(call c);
void log_in(call c);
void log_out(call c);
void health(call c);
void ready(call c);
void metrics(call c);
void openapi(call c);

}  // namespace riffle::http
