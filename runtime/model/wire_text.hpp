// SPDX-License-Identifier: MIT
#pragma once

// Pieces of JSON text that requests are made of, for the dialects alone.

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "runtime/model/dialect.hpp"

namespace riffle::model::wire {

using nlohmann::ordered_json;

/// With quotation marks.
void append_string(std::string& out, std::string_view text);
/// `"key":"text"`.
void append_member(std::string& out, std::string_view key,
                   std::string_view text);
/// The bytes as base64, with quotation marks.
void append_base64_text(std::string& out, const told_file& x);
/// `"key":"…"` with the bytes as base64.
void append_base64_member(std::string& out, std::string_view key,
                          const told_file& x);
/// `"key":"data:TYPE;base64,…"`.
void append_data_url(std::string& out, std::string_view key,
                     const told_file& x);
/// `,"key":value`.
void append_json(std::string& out, std::string_view key,
                 const ordered_json& value);
/// Bytes of memory, about.
std::uint64_t weight_of(const ordered_json& x);
/// The member of an object that a provider adds to as it likes; null: it has as
/// many as are kept, and this would be another one. A new key is counted in
/// `weight`. (Objects are lists: what finds a key looks at all before it.)
ordered_json* member_to_keep(ordered_json& object, const std::string& key,
                             std::uint64_t& weight);
/// Compact; bytes that are no UTF-8 become U+FFFD.
std::string text_of(const ordered_json& x);

/// The text of a JSON object, whatever the model sent: servers that parse the
/// arguments of earlier calls refuse the whole conversation when they are no
/// object, for ever.
std::string sendable_arguments(std::string_view arguments);

/// A tool's JSON Schema; one without parameters has the empty object's.
std::string_view parameters_or_none(const std::string& schema);

/// An id of nine letters or digits: the same one, if it is such a one.
std::string nine_characters(std::string_view id);
/// An id of at most 64 letters, digits, '_' and '-': the same one, if it is.
std::string plain_id(std::string_view id);

/// Merged into a body: `extra`, as a person wrote it.
void merge(ordered_json& body, const std::string& extra);

}  // namespace riffle::model::wire
