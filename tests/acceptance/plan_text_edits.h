#pragma once

#include <string>

/// Edits of a printed plan, as a person makes them with an editor: line by line, in all specialisations. Each
/// fails the test if it finds nothing to edit, so that no case silently tests nothing.
namespace tessera::testing {

class PlanDocument {
public:
    explicit PlanDocument(std::string text) : text_(std::move(text)) {}

    /// The line of a constant or state in [stored]; added if it is row-major so far.
    PlanDocument& stored(const std::string& value, const std::string& layout);
    /// The line of a tensor, in one specialisation or, without a name, in all.
    PlanDocument& tensor(const std::string& value, const std::string& place,
                         const std::string& specialisation = "");
    /// The nest of the kernel whose last operator is `root`. An empty nest removes the kernel; several,
    /// between lines, are several kernels.
    PlanDocument& nest(const std::string& root, const std::string& nests);
    /// A kernel of its own in front of the kernel whose last operator is `root`.
    PlanDocument& before(const std::string& root, const std::string& nest);
    /// Any other piece of text, everywhere.
    PlanDocument& replace(const std::string& piece, const std::string& by);
    /// Without ` at OFFSET for BYTES`: the compiler places the buffers anew.
    PlanDocument& unplaced();

    const std::string& text() const { return text_; }

private:
    std::string text_;
};

}  // namespace tessera::testing
