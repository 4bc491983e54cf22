// SPDX-License-Identifier: MIT
// What a run was started with is read back when it is resumed.
#include "runtime/service/stored_request.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::service;

TEST_CASE("what was chosen for a run comes back") {
  stored_request x;
  auto& a = x.request;
  a.agent = "writer";
  a.model = "small";
  a.context = "notes";
  a.response_schema = R"({"type":"object"})";
  a.max_steps = 7;
  a.timeout = std::chrono::seconds{9};
  a.approval =
      GENERATE(approve::none, approve::all, approve::ask, approve::nobody);
  x.cause = proposal_id{"prop_1"};
  x.folder = "/some/where";
  x.place = {"volley_1", 3};
  const auto y = request_from_json(to_json(x));
  const auto& b = y.request;
  CHECK(b.agent == a.agent);
  CHECK(b.model == a.model);
  CHECK(b.context == a.context);
  CHECK(b.response_schema == a.response_schema);
  CHECK(b.max_steps == a.max_steps);
  CHECK(b.timeout == a.timeout);
  CHECK(b.approval == a.approval);
  CHECK(y.cause == x.cause);
  CHECK(y.folder == x.folder);
  CHECK(y.place == x.place);
  storage::run_record record;
  CHECK(volley_of(record).empty());
  record.settings = to_json(x);
  CHECK(volley_of(record) == "volley_1");
  CHECK_FALSE(request_from_json(to_json(stored_request{})).cause);
}

TEST_CASE(
    "attachments come back: as sources, and once started by their names") {
  stored_request x;
  x.request.attachments = {{"/some/a.png", "", "one"},
                           {"", "\xff\x00b", "two"}};
  x.request.attachments[1].bytes = std::string{"\xff\0b", 3};
  const auto y = request_from_json(to_json(x)).request.attachments;
  REQUIRE(y.size() == 2);
  CHECK(y[0].file == "/some/a.png");
  CHECK(y[0].name == "one");
  CHECK(y[0].bytes.empty());
  CHECK(y[1].file.empty());
  CHECK(y[1].bytes == x.request.attachments[1].bytes);
  CHECK(y[1].name == "two");
  x.attachments = {{"a.png", "image/png", 3, "d1"}};
  const auto z = request_from_json(to_json(x));
  CHECK(z.attachments == x.attachments);
  CHECK(z.request.attachments.empty());
}

TEST_CASE("runs of older versions are resumed with what they said") {
  CHECK(request_from_json(R"({"approve_all":true})").request.approval ==
        approve::all);
  CHECK(request_from_json(R"({"approve_all":false})").request.approval ==
        approve::none);
  CHECK(request_from_json("no json").request.approval == approve::none);
}
