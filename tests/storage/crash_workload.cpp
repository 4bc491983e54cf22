// SPDX-License-Identifier: MIT
#include "tests/storage/crash_workload.hpp"

#include "tests/storage/storage_fixture.hpp"

namespace riffle::testing {

namespace {

std::uint64_t last_seq_of(std::size_t k) {
  // 1, 2, 3, 1, 2, 3 … events.
  static constexpr std::uint64_t before[] = {0, 1, 3};
  return k / 3 * 6 + before[k % 3];
}

storage::run_record record_of(const std::string& run) {
  auto x = make_run("ses_" + run, run);
  x.ordinal = 1;
  return x;
}

}  // namespace

std::vector<std::string> workload_runs() { return {"run_a", "run_b"}; }

std::string workload_intent(const std::string& run, std::size_t k) {
  return k % 5 == 2 ? "call_" + run + std::to_string(k) : std::string{};
}

storage::commit_unit workload_unit(const std::string& run, std::size_t k) {
  const std::size_t size = k % 7 == 0 ? 9000 : 60 + 40 * k;
  storage::commit_unit unit{
      {run}, make_block(run, last_seq_of(k - 1) + 1, last_seq_of(k), size), {}};
  auto record = record_of(run);
  record.step = static_cast<std::uint32_t>(k);
  if (k % 4 == 0)
    unit.changes.push_back(
        make_message(record, "message " + std::to_string(k)));
  if (const auto id = workload_intent(run, k); !id.empty()) {
    auto call = make_call(run, id);
    call.stage = storage::call_stage::intent;
    unit.changes.push_back(call);
  }
  if (const auto id = workload_intent(run, k - 1); !id.empty()) {
    unit.changes.push_back(make_call(run, id));
    unit.changes.push_back(
        storage::output_record{{id}, std::string(100 * k, 'o')});
  }
  if (k == workload_units) record.state = storage::run_state::completed;
  if (k % 3 == 0 || k == workload_units) unit.changes.push_back(record);
  return unit;
}

std::size_t units_up_to(const std::string&, std::uint64_t last_seq) {
  std::size_t k = 0;
  while (k <= workload_units && last_seq_of(k) != last_seq) ++k;
  return k;
}

std::string compare_with_prefix(storage::journal& found, const std::string& run,
                                std::size_t units) {
  const auto wanted = storage::make_memory_journal();
  if (!wanted->open_run(make_run("ses_" + run, run))) return "cannot open";
  for (std::size_t k = 1; k <= units; ++k)
    if (auto failure = store(*wanted, workload_unit(run, k)))
      return render(*failure);
  const auto a = found.load_session({"ses_" + run});
  const auto b = wanted->load_session({"ses_" + run});
  if (!a) return render(a.error());
  std::string differences;
  if (a->runs != b->runs) differences += "runs ";
  if (a->messages != b->messages) differences += "messages ";
  if (a->calls != b->calls) differences += "calls ";
  if (read_all(found, run, 0, 20000) != read_all(*wanted, run, 0, 500))
    differences += "log ";
  for (const auto& call : b->calls) {
    const auto x = found.load_output(call.call.id);
    const auto y = wanted->load_output(call.call.id);
    if (x.has_value() != y.has_value() || (x && *x != *y))
      differences += "output ";
  }
  return differences;
}

}  // namespace riffle::testing
