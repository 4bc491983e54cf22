// SPDX-License-Identifier: MIT
#include "actors/proposal_texts.hpp"

namespace riffle {

std::string denial_text(const core::decided_proposal& x) {
  switch (x.how) {
    case events::decision::approved: return {};
    case events::decision::denied:
      return "denied by " + x.by +
             (x.reason.empty()
                  ? std::string{"; go on without it, or say what you would do"}
                  : ": " + x.reason);
    case events::decision::expired: return expired;
    case events::decision::cancelled: break;
  }
  return withdrawn;
}

std::string proposed(const storage::proposal_record& x) {
  return "needs approval, proposal " + x.id.value +
         ": it was not executed and waits for a person's decision. Go on "
         "without it; if it is approved, it is executed then, and you are "
         "told the result later. Do not ask for it again";
}

std::string bad_approval(const error& why) {
  return "it was approved, but cannot run like that: " + why.message;
}

std::string edit_note(const tool_call& call) {
  return "[The person who approved this call changed its arguments. What "
         "really ran: " +
         call.tool + " " + call.arguments + "]\n";
}

events::approval_required required_event(const storage::proposal_record& x) {
  return {x.id,        x.call,    x.tool,   x.title,
          x.arguments, x.preview, x.reason, x.expires};
}

events::proposal proposal_event(const storage::proposal_record& x,
                                events::proposal_status status) {
  return {x.id, x.source, x.summary, status};
}

events::proposal_status status_of(events::decision x) {
  switch (x) {
    case events::decision::approved: return events::proposal_status::approved;
    case events::decision::denied: return events::proposal_status::denied;
    default: return events::proposal_status::expired;
  }
}

}  // namespace riffle
