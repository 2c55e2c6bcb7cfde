#include "import/onnx/tensor_reader.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::import::onnx {
namespace {

constexpr size_t kMostAxes = 64;
constexpr int64_t kMostElements = int64_t{1} << 40;

/// Elements of the shape. @throws Error through `message` for a shape that no tensor has
int64_t elements_of(const std::vector<int64_t>& shape, const ProtobufReader& message) {
    if (shape.size() > kMostAxes)
        message.fail("dims", fmt::format("has {} axes, expected at most {}", shape.size(), kMostAxes));
    int64_t count = 1;
    for (const int64_t extent : shape) {
        if (extent < 0) message.fail("dims", fmt::format("has the extent {}", extent));
        if (extent != 0 && count > kMostElements / extent)
            message.fail("dims", fmt::format("has more than {} elements", kMostElements));
        count *= extent;
    }
    return count;
}

int64_t whole_number(std::string_view text, std::string_view key, const ProtobufReader& message) {
    int64_t value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        message.fail("external_data", fmt::format("has the {} \"{}\", expected a number", key, text));
    return value;
}

/// The numbers of a typed field, as elements of so many bits.
class Elements {
public:
    void add(uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) bytes_->push_back(static_cast<std::byte>(value >> (8 * i)));
    }
    TensorContents contents() const { return {*bytes_, bytes_}; }
    size_t size() const { return bytes_->size(); }

private:
    std::shared_ptr<std::vector<std::byte>> bytes_ = std::make_shared<std::vector<std::byte>>();
};

}  // namespace

void TensorReader::entry(ProtobufReader message, External& external) {
    std::string_view key, value;
    while (message.next()) {
        if (message.field() == 1) key = message.bytes("key");
        if (message.field() == 2) value = message.bytes("value");
    }
    if (key == "location") external.location = value;
    if (key == "offset") external.offset = whole_number(value, key, message);
    if (key == "length") external.length = whole_number(value, key, message);
}

TensorContents TensorReader::contents(const External& external, const std::string& tensor, size_t expected) {
    const auto refuse = [&](std::string problem, std::string advice = {}) {
        throw Error(where_, tensor, std::move(problem), std::move(advice));
    };
    const std::filesystem::path location = external.location;
    if (folder_.empty())
        refuse(fmt::format("lies in the file \"{}\", and the model has no folder", external.location));
    bool is_below = !location.empty() && location.is_relative();
    for (const auto& part : location) is_below = is_below && part != "..";
    if (is_below) {
        // A link may lead elsewhere.
        std::error_code error;
        const auto root = std::filesystem::weakly_canonical(folder_, error);
        const auto target = std::filesystem::weakly_canonical(folder_ / location, error);
        const auto [of_root, of_target] =
            std::mismatch(root.begin(), root.end(), target.begin(), target.end());
        is_below = !error && of_root == root.end() && of_target != target.end();
    }
    if (!is_below)
        refuse(fmt::format("lies in \"{}\", which is outside of the model's folder", external.location),
               "put the file of the tensors beside the model");
    auto& file = opened_[external.location];
    if (!file) file = std::make_shared<const MappedFile>(MappedFile::open(folder_ / location));
    const auto size = static_cast<int64_t>(file->size());
    const int64_t left = external.offset <= size ? size - external.offset : -1;
    const int64_t length = external.length < 0 ? static_cast<int64_t>(expected) : external.length;
    if (length != static_cast<int64_t>(expected))
        refuse(fmt::format("has {} bytes in \"{}\", expected {}", length, external.location, expected));
    if (length > left)
        refuse(fmt::format("needs {} bytes from byte {} on of \"{}\", which has {}", length, external.offset,
                           external.location, size));
    return {file->bytes().subspan(static_cast<size_t>(external.offset), static_cast<size_t>(length)), file};
}

Tensor TensorReader::read(ProtobufReader message) {
    Tensor tensor;
    External external;
    bool is_external = false, has_raw = false;
    Elements typed;
    std::vector<uint64_t> narrow;  // of int32_data, whose width the type decides, which may stand behind it
    while (message.next()) {
        switch (message.field()) {
            case 1:
                message.numbers("dims", [&](uint64_t n) { tensor.shape.push_back(static_cast<int64_t>(n)); });
                break;
            case 2:
                tensor.type = static_cast<DataType>(message.int32("data_type"));
                break;
            case 4:
                message.fixed<float>("float_data",
                                     [&](float f) { typed.add(std::bit_cast<uint32_t>(f), 4); });
                break;
            case 5:
                message.numbers("int32_data", [&](uint64_t n) { narrow.push_back(n); });
                break;
            case 7:
                message.numbers("int64_data", [&](uint64_t n) { typed.add(n, 8); });
                break;
            case 8:
                tensor.name = message.bytes("name");
                break;
            case 9: {
                const std::string_view raw = message.bytes("raw_data");
                tensor.contents = {std::as_bytes(std::span(raw)), nullptr};
                has_raw = true;
                break;
            }
            case 10:
                message.fixed<double>("double_data",
                                      [&](double d) { typed.add(std::bit_cast<uint64_t>(d), 8); });
                break;
            case 11:
                message.numbers("uint64_data",
                                [&](uint64_t n) { typed.add(n, tensor.type == DataType::kUint32 ? 4 : 8); });
                break;
            case 13:
                entry(message.message("external_data"), external);
                break;
            case 14:
                is_external = message.int32("data_location") == 1;
                break;
            default:
                break;
        }
    }
    const int64_t count = elements_of(tensor.shape, message);
    const int width = bits(tensor.type);
    if (width == 0) return tensor;  // strings, and types that are not known: whoever uses it refuses it
    for (const uint64_t number : narrow) typed.add(number, std::max(1, width / 8));
    const auto expected = static_cast<size_t>((count * width + 7) / 8);
    if (is_external) {
        tensor.contents = contents(external, tensor.name, expected);
    } else if (!has_raw) {
        tensor.contents = typed.contents();
    }
    if (tensor.contents.bytes.size() != expected)
        message.fail(tensor.name.empty() ? "tensor" : tensor.name,
                     fmt::format("has {} bytes, expected {} for {} elements of {}",
                                 tensor.contents.bytes.size(), expected, count, name(tensor.type)));
    return tensor;
}

std::vector<std::shared_ptr<const void>> TensorReader::files() const {
    std::vector<std::shared_ptr<const void>> files;
    for (const auto& [location, file] : opened_) files.push_back(file);
    return files;
}

std::vector<std::filesystem::path> TensorReader::paths() const {
    std::vector<std::filesystem::path> paths;
    for (const auto& [location, file] : opened_) paths.push_back(folder_ / location);
    return paths;
}

}  // namespace tessera::import::onnx
