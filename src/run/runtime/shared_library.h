#pragma once

#include <string>
#include <string_view>

namespace tessera::runtime {

/// Native code, loaded from the bytes of a shared object.
class SharedLibrary {
public:
    /// @param where  what the code belongs to, for errors
    /// @throws Error if the dynamic loader does not take it
    SharedLibrary(std::string_view code, const std::string& where);
    SharedLibrary(const SharedLibrary&) = delete;
    SharedLibrary& operator=(const SharedLibrary&) = delete;
    ~SharedLibrary();

    /// @throws Error naming a function that is not there
    template <class Function>
    Function function(const std::string& name) const {
        return reinterpret_cast<Function>(address(name));
    }

private:
    void* address(const std::string& name) const;

    std::string where_;
    int descriptor_ = -1;  ///< of the file in memory
    void* handle_ = nullptr;
};

}  // namespace tessera::runtime
