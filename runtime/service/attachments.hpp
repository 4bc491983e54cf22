// SPDX-License-Identifier: MIT
#pragma once

// From what a request names to what a model is shown.

#include <string>
#include <vector>

#include "messages/attachment.hpp"
#include "messages/error.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/requests.hpp"

namespace riffle::service {

struct loaded_attachment {
  attachment about;
  attachment_bytes bytes;
};

/// Reads them, the type told by the bytes. Fails with `invalid_request`, which
/// names the file: it is missing, no picture or PDF, or too large. Blocks.
expected<std::vector<loaded_attachment>> load_attachments(
    const std::vector<attachment_source>& sources,
    const config::attachments_config& limits);

/// The MIME types that a model is shown.
std::vector<std::string> shown_types(const config::model_config& x);

/// Fails with `invalid_request` where the model takes one of them not.
expected<void> check_shown(const std::vector<attachment>& all,
                           const std::vector<std::string>& types,
                           const std::string& model);

}  // namespace riffle::service
