#include "sinks/clients/objectstore/s3_store.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <random>
#include <utility>

#include "sinks/clients/objectstore/s3_client.h"
#include "sinks/clients/objectstore/xml_text.h"

namespace driftless {
namespace {

constexpr size_t kPartBytes = 8 << 20;  // S3 wants 5 MiB at least, and at most 10,000 parts

int64_t ToNumber(std::string_view text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Small objects are one PUT; from the second part on it is a multipart upload.
class S3Writer : public ObjectWriter {
 public:
  S3Writer(std::shared_ptr<S3Client> client, std::string key)
      : client_(std::move(client)), key_(std::move(key)) {}
  ~S3Writer() override {
    if (!upload_id_.empty()) {
      (void)client_->Send("DELETE", key_, {{"uploadId", upload_id_}}, {}, "");
    }
  }

  Result<void> Append(std::string_view bytes) override {
    size_ += static_cast<int64_t>(bytes.size());
    while (!bytes.empty()) {
      const size_t room = std::min(bytes.size(), kPartBytes - buffer_.size());
      buffer_.append(bytes.substr(0, room));
      bytes.remove_prefix(room);
      if (buffer_.size() == kPartBytes) DRIFTLESS_TRY(SendPart());
    }
    return {};
  }

  Result<void> Finish() override {
    if (upload_id_.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(const S3Response response,
                                 client_->Send("PUT", key_, {}, {}, buffer_));
      if (response.status != 200) return client_->ToError(response, "cannot write " + key_);
      return {};
    }
    if (!buffer_.empty()) DRIFTLESS_TRY(SendPart());
    std::string body = "<CompleteMultipartUpload>";
    for (size_t i = 0; i < etags_.size(); ++i) {
      body += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" +
              XmlEscape(etags_[i]) + "</ETag></Part>";
    }
    body += "</CompleteMultipartUpload>";
    DRIFTLESS_ASSIGN_OR_RETURN(const S3Response response,
                               client_->Send("POST", key_, {{"uploadId", upload_id_}}, {}, body));
    // An error may come with status 200, because the store answers before it is done.
    if (response.status != 200 || XmlText(response.body, "Code")) {
      return client_->ToError(response, "cannot finish " + key_);
    }
    upload_id_.clear();
    return {};
  }

  int64_t size() const override { return size_; }

 private:
  Result<void> SendPart() {
    if (upload_id_.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(const S3Response begun,
                                 client_->Send("POST", key_, {{"uploads", ""}}, {}, ""));
      const std::optional<std::string> id = XmlText(begun.body, "UploadId");
      if (begun.status != 200 || !id) return client_->ToError(begun, "cannot begin " + key_);
      upload_id_ = *id;
    }
    const std::string number = std::to_string(etags_.size() + 1);
    DRIFTLESS_ASSIGN_OR_RETURN(
        S3Response response,
        client_->Send("PUT", key_, {{"partNumber", number}, {"uploadId", upload_id_}}, {},
                      buffer_));
    if (response.status != 200 || !response.headers.contains("etag")) {
      return client_->ToError(response, "cannot write part " + number + " of " + key_);
    }
    etags_.push_back(std::move(response.headers["etag"]));
    buffer_.clear();
    return {};
  }

  std::shared_ptr<S3Client> client_;
  std::string key_;
  std::string buffer_;
  std::string upload_id_;
  std::vector<std::string> etags_;
  int64_t size_ = 0;
};

class S3Store : public ObjectStore {
 public:
  S3Store(std::string bucket, std::string prefix, S3Options options)
      : prefix_(prefix.empty() ? "" : std::move(prefix) + "/"),
        client_(std::make_shared<S3Client>(std::move(bucket), std::move(options))) {}

  using ObjectStore::CreateExclusive;

  Result<void> Put(const std::string& path, std::string_view bytes) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const S3Response response,
                               client_->Send("PUT", Key(path), {}, {}, bytes));
    if (response.status != 200) return client_->ToError(response, "cannot write " + path);
    return {};
  }

  Result<std::unique_ptr<ObjectWriter>> OpenWriter(const std::string& path) override {
    return std::make_unique<S3Writer>(client_, Key(path));
  }

  std::vector<Result<void>> CreateExclusive(std::span<const NewObject> objects) override {
    std::vector<Result<void>> results;
    for (const NewObject& object : objects) results.push_back(CreateOne(object));
    return results;
  }

  Result<std::string> Read(const std::string& path) override {
    DRIFTLESS_ASSIGN_OR_RETURN(S3Response response, client_->Send("GET", Key(path), {}, {}, ""));
    if (response.status != 200) return client_->ToError(response, "cannot read " + path);
    return std::move(response.body);
  }

  Result<std::string> ReadRange(const std::string& path, int64_t offset, int64_t length) override {
    if (offset < 0 || length < 0) {
      return MakeError(ErrorKind::kInvalidInput, "negative range in " + path);
    }
    if (length == 0) return std::string();
    const std::string range =
        "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1);
    DRIFTLESS_ASSIGN_OR_RETURN(S3Response response,
                               client_->Send("GET", Key(path), {}, {{"range", range}}, ""));
    if (response.status != 206 && response.status != 200) {
      return client_->ToError(response, "cannot read " + path);
    }
    if (response.status == 200) {  // a store that does not know ranges
      if (static_cast<int64_t>(response.body.size()) < offset + length) {
        return MakeError(ErrorKind::kInvalidInput, "range beyond the end of " + path);
      }
      return response.body.substr(static_cast<size_t>(offset), static_cast<size_t>(length));
    }
    if (static_cast<int64_t>(response.body.size()) != length) {
      return MakeError(ErrorKind::kInvalidInput, "range beyond the end of " + path);
    }
    return std::move(response.body);
  }

  Result<std::optional<ObjectInfo>> Stat(const std::string& path) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const S3Response response,
                               client_->Send("HEAD", Key(path), {}, {}, ""));
    ObjectInfo info;
    if (response.status == 200) {
      const auto length = response.headers.find("content-length");
      if (length != response.headers.end()) info.size = ToNumber(length->second);
      return std::optional(info);
    }
    if (response.status != 404) return client_->ToError(response, "cannot look at " + path);
    DRIFTLESS_ASSIGN_OR_RETURN(
        const S3Response below,
        client_->Send("GET", "",
                      {{"list-type", "2"}, {"max-keys", "1"}, {"prefix", Key(path) + "/"}}, {},
                      ""));
    if (below.status != 200) return client_->ToError(below, "cannot list " + path);
    if (XmlElements(below.body, "Contents").empty()) return std::optional<ObjectInfo>();
    info.is_directory = true;
    return std::optional(info);
  }

  Result<std::vector<ListedObject>> List(const std::string& directory, Depth depth) override {
    const std::string prefix = directory.empty() ? prefix_ : Key(directory) + "/";
    std::map<std::string, std::string> query = {
        {"list-type", "2"}, {"prefix", prefix}, {"encoding-type", "url"}};
    if (depth == Depth::kDirect) query["delimiter"] = "/";
    std::vector<ListedObject> found;
    while (true) {
      DRIFTLESS_ASSIGN_OR_RETURN(const S3Response response,
                                 client_->Send("GET", "", query, {}, ""));
      if (response.status != 200) return client_->ToError(response, "cannot list " + directory);
      TakeListing(response.body, &found);
      const std::optional<std::string> next = XmlText(response.body, "NextContinuationToken");
      if (!next || XmlText(response.body, "IsTruncated") != "true") break;
      query["continuation-token"] = *next;
    }
    std::ranges::sort(found, {}, &ListedObject::path);
    return found;
  }

  Result<void> Delete(const std::string& path) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const S3Response response,
                               client_->Send("DELETE", Key(path), {}, {}, ""));
    if (response.status / 100 != 2 && response.status != 404) {
      return client_->ToError(response, "cannot delete " + path);
    }
    return {};
  }

  Result<void> MakeDirectory(const std::string&) override { return {}; }
  Result<void> SyncAll() override { return {}; }

  Result<void> Probe() override {
    std::random_device device;
    const std::string name = ".driftless-probe-" + std::to_string(device());
    DRIFTLESS_TRY(CreateExclusive(name, "probe"));
    const Result<void> second = CreateExclusive(name, "probe");
    DRIFTLESS_TRY(Delete(name));
    if (!second && second.error().kind() == ErrorKind::kAlreadyExists) return {};
    return MakeError(ErrorKind::kUnsupported,
                     "the store of " + root() + " does not honour If-None-Match")
        .Hint(
            "Two writers could overwrite each other's snapshots there; use a store with "
            "conditional writes.");
  }

  std::string root() const override { return "s3://" + client_->bucket() + "/" + prefix_; }

 private:
  std::string Key(const std::string& path) const { return prefix_ + path; }

  Result<void> CreateOne(const NewObject& object) {
    DRIFTLESS_ASSIGN_OR_RETURN(const S3Response response,
                               client_->Send("PUT", Key(object.path), {}, {{"if-none-match", "*"}},
                                             object.bytes, S3Client::Repeat::kOnce));
    if (response.status == 200) return {};
    // 409: another conditional write of the key is under way; it may fail yet.
    if (response.status == 409) {
      return MakeError(ErrorKind::kCommitUnknown,
                       "another write of " + object.path + " is under way");
    }
    return client_->ToError(response, "cannot create " + object.path);
  }

  void TakeListing(std::string_view xml, std::vector<ListedObject>* found) const {
    // Not every store knows encoding-type; those that do repeat it.
    const bool encoded = XmlText(xml, "EncodingType") == "url";
    const auto relative = [&](std::string key) {
      if (encoded) key = UriDecode(key);
      return key.substr(std::min(prefix_.size(), key.size()));
    };
    for (const std::string_view item : XmlElements(xml, "Contents")) {
      ListedObject info;
      info.path = relative(XmlText(item, "Key").value_or(""));
      if (info.path.empty() || info.path.ends_with('/')) continue;  // a folder marker
      found->push_back(std::move(info));
    }
    for (const std::string_view item : XmlElements(xml, "CommonPrefixes")) {
      ListedObject info;
      info.path = relative(XmlText(item, "Prefix").value_or(""));
      while (info.path.ends_with('/')) info.path.pop_back();
      info.is_directory = true;
      if (!info.path.empty()) found->push_back(std::move(info));
    }
  }

  const std::string prefix_;  // empty, or with a slash at its end
  std::shared_ptr<S3Client> client_;
};

void FromEnvironment(const char* variable, std::string* value) {
  const char* text = std::getenv(variable);
  if (value->empty() && text != nullptr) *value = text;
}

}  // namespace

Result<std::shared_ptr<ObjectStore>> OpenS3Store(std::string bucket, std::string prefix,
                                                 S3Options options) {
  if (options.keys == nullptr && options.access_key.empty()) {
    FromEnvironment("AWS_ACCESS_KEY_ID", &options.access_key);
    FromEnvironment("AWS_SECRET_ACCESS_KEY", &options.secret_key);
    FromEnvironment("AWS_SESSION_TOKEN", &options.session_token);
  }
  if (options.keys == nullptr && (options.access_key.empty() || options.secret_key.empty())) {
    return MakeError(ErrorKind::kInvalidConfig, "no credentials for s3://" + bucket)
        .Hint(
            "Set catalog.properties.s3.access-key and s3.secret-key, or AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY in the environment.");
  }
  return std::make_shared<S3Store>(std::move(bucket), std::move(prefix), std::move(options));
}

}  // namespace driftless
