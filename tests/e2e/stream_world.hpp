// SPDX-License-Identifier: MIT
#pragma once

// One stream of a provider through a socket, and what became of it.

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/http_server.hpp"

namespace riffle::testing {

/// Where recorded provider streams lie: $RIFFLE_CORPUS, else beside the
/// repository.
std::filesystem::path recorded_streams();

std::string content_of(const std::filesystem::path& file);

/// The dialect of a recorded file's protocol.
std::string dialect_of_protocol(const std::string& protocol);

/// Answers requests of a dialect for the model's words: the first one with
/// this, the next ones with an answer that ends the run.
http_server model_server(const std::string& dialect, http_reply first);

/// The words of a stream in answers to requests, whole or in pieces; nothing
/// as `content_type`: the header is missing.
http_reply streamed(const std::string& body, std::size_t piece,
                    const std::string& content_type = "text/event-stream");

/// What the first step of a run has of the model's stream.
struct understood {
  std::string text;
  std::string reasoning;
  std::vector<std::pair<std::string, nlohmann::json>> calls;
  std::string results;  ///< "look tool_not_found, ": how each call ended
  nlohmann::json usage;
  std::string failure;  ///< the run's code; empty: it did not fail
  std::string answer;   ///< of the whole run
  std::size_t requests = 0;
};

/// Of the events of a run.
understood understood_of(const std::vector<nlohmann::json>& events);

/// A run in this process whose model says this; it has no tools.
understood understand(const std::string& dialect, const http_reply& first);

}  // namespace riffle::testing
