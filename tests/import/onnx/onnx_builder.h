#pragma once

#include <cctype>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

/// Fields of a protocol buffer, byte by byte as its encoding says, without any code of the reader.
class ProtoText {
public:
    ProtoText& number(uint32_t field, int64_t value) {
        varint(uint64_t{field} << 3);
        varint(static_cast<uint64_t>(value));
        return *this;
    }
    ProtoText& text(uint32_t field, std::string_view bytes) {
        varint(uint64_t{field} << 3 | 2);
        varint(bytes.size());
        bytes_ += bytes;
        return *this;
    }
    ProtoText& message(uint32_t field, const ProtoText& inner) { return text(field, inner.bytes_); }
    ProtoText& float32(uint32_t field, float value) {
        varint(uint64_t{field} << 3 | 5);
        char raw[sizeof(float)];
        std::memcpy(raw, &value, sizeof(raw));
        bytes_.append(raw, sizeof(raw));
        return *this;
    }
    const std::string& bytes() const { return bytes_; }

private:
    void varint(uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }

    std::string bytes_;
};

/// Numbers of TensorProto.DataType.
enum OnnxType : int32_t {
    kOnnxFloat = 1,
    kOnnxUint8 = 2,
    kOnnxInt8 = 3,
    kOnnxInt32 = 6,
    kOnnxInt64 = 7,
    kOnnxBool = 9,
    kOnnxDouble = 11,
    kOnnxUint64 = 13
};

/// A TensorProto with its contents as they lie in memory.
template <typename T>
ProtoText onnx_tensor(std::string_view name, int32_t type, const std::vector<int64_t>& shape,
                      const std::vector<T>& values) {
    ProtoText tensor;
    for (const int64_t extent : shape) tensor.number(1, extent);
    tensor.number(2, type).text(8, name);
    return tensor.text(9, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

/// A node that is being written.
class OnnxNode {
public:
    OnnxNode(std::string_view op, const std::vector<std::string>& inputs,
             const std::vector<std::string>& outputs) {
        for (const std::string& input : inputs) node_.text(1, input);
        for (const std::string& output : outputs) node_.text(2, output);
        node_.text(4, op);
    }
    OnnxNode& domain(std::string_view name) {
        node_.text(7, name);
        return *this;
    }
    OnnxNode& integer(std::string_view name, int64_t value) {
        return attribute(ProtoText().text(1, name).number(3, value).number(20, 2));
    }
    OnnxNode& real(std::string_view name, float value) {
        return attribute(ProtoText().text(1, name).float32(2, value).number(20, 1));
    }
    OnnxNode& string(std::string_view name, std::string_view value) {
        return attribute(ProtoText().text(1, name).text(4, value).number(20, 3));
    }
    OnnxNode& integers(std::string_view name, const std::vector<int64_t>& values) {
        ProtoText list;
        list.text(1, name);
        for (const int64_t value : values) list.number(8, value);
        return attribute(list.number(20, 7));
    }
    OnnxNode& graph(std::string_view name, const ProtoText& graph) {
        return attribute(ProtoText().text(1, name).message(6, graph).number(20, 5));
    }
    OnnxNode& attribute(const ProtoText& attribute) {
        node_.message(5, attribute);
        return *this;
    }
    const ProtoText& text() const { return node_; }

private:
    ProtoText node_;
};

/// Writes ONNX models for tests.
class OnnxBuilder {
public:
    explicit OnnxBuilder(int64_t opset = 17) : opset_(opset) {}

    OnnxBuilder& input(std::string_view name, int32_t type, const std::vector<int64_t>& shape) {
        graph_.message(11, value(name, type, shape));
        return *this;
    }
    /// An extent that begins with a letter is a symbol.
    OnnxBuilder& symbolic_input(std::string_view name, int32_t type, const std::vector<std::string>& shape) {
        graph_.message(11, symbolic_value(name, type, shape));
        return *this;
    }
    OnnxBuilder& symbolic_output(std::string_view name, int32_t type, const std::vector<std::string>& shape) {
        graph_.message(12, symbolic_value(name, type, shape));
        return *this;
    }
    OnnxBuilder& output(std::string_view name, int32_t type, const std::vector<int64_t>& shape) {
        graph_.message(12, value(name, type, shape));
        return *this;
    }
    OnnxBuilder& node(const OnnxNode& node) {
        graph_.message(1, node.text());
        return *this;
    }
    OnnxBuilder& initializer(const ProtoText& tensor) {
        graph_.message(5, tensor);
        return *this;
    }
    OnnxBuilder& function(const ProtoText& function) {
        functions_.push_back(function);
        return *this;
    }
    const ProtoText& graph() const { return graph_; }
    std::string bytes() const {
        ProtoText model;
        model.number(1, 8).text(2, "test");
        model.message(8, ProtoText().text(1, "").number(2, opset_))
            .message(8, ProtoText().text(1, "own").number(2, 1))
            .message(8, ProtoText().text(1, "com.microsoft").number(2, 1));
        for (const ProtoText& function : functions_) model.message(25, function);
        return model.message(7, graph_).bytes();
    }

private:
    static ProtoText symbolic_value(std::string_view name, int32_t type,
                                    const std::vector<std::string>& shape) {
        ProtoText extents;
        for (const std::string& extent : shape) {
            const bool is_symbol = std::isdigit(static_cast<unsigned char>(extent.front())) == 0;
            extents.message(
                1, is_symbol ? ProtoText().text(2, extent) : ProtoText().number(1, std::stoll(extent)));
        }
        return ProtoText().text(1, name).message(
            2, ProtoText().message(1, ProtoText().number(1, type).message(2, extents)));
    }
    static ProtoText value(std::string_view name, int32_t type, const std::vector<int64_t>& shape) {
        ProtoText extents;
        for (const int64_t extent : shape) extents.message(1, ProtoText().number(1, extent));
        return ProtoText().text(1, name).message(
            2, ProtoText().message(1, ProtoText().number(1, type).message(2, extents)));
    }

    int64_t opset_;
    ProtoText graph_;
    std::vector<ProtoText> functions_;
};

}  // namespace tessera::test
