#include "search/extraction/components.h"

#include <algorithm>
#include <utility>

namespace tessera::extraction {
namespace {

class Search {
public:
    explicit Search(const Instance& instance)
        : instance_(instance),
          number_(instance.classes(), -1),
          low_(instance.classes(), 0),
          component_(instance.classes(), -1) {}

    void from(int root) {
        if (number_[static_cast<size_t>(root)] >= 0) return;
        enter(root);
        // On an explicit stack: the depth of an e-graph has no bound.
        while (!open_.empty()) {
            Frame& frame = open_.back();
            if (const int child = next_child(frame); child >= 0) {
                if (number_[static_cast<size_t>(child)] < 0)
                    enter(child);
                else if (component_[static_cast<size_t>(child)] < 0)
                    lower(frame.e_class, number_[static_cast<size_t>(child)]);
                continue;
            }
            const int done = frame.e_class;
            open_.pop_back();
            if (!open_.empty()) lower(open_.back().e_class, low_[static_cast<size_t>(done)]);
            if (low_[static_cast<size_t>(done)] == number_[static_cast<size_t>(done)]) close(done);
        }
    }
    std::vector<int> take() { return std::move(component_); }

private:
    struct Frame {
        int e_class;
        size_t node = 0, child = 0;
    };

    void enter(int e_class) {
        number_[static_cast<size_t>(e_class)] = low_[static_cast<size_t>(e_class)] = next_number_++;
        open_.push_back({e_class});
        waiting_.push_back(e_class);
    }
    int next_child(Frame& frame) const {
        const std::vector<int>& nodes = instance_.nodes_of(frame.e_class);
        for (; frame.node < nodes.size(); ++frame.node, frame.child = 0) {
            const std::vector<int>& children = instance_.node(nodes[frame.node]).children;
            if (frame.child < children.size()) return children[frame.child++];
        }
        return -1;
    }
    void lower(int e_class, int number) {
        int& low = low_[static_cast<size_t>(e_class)];
        low = std::min(low, number);
    }
    void close(int e_class) {
        int member = -1;
        do {
            member = waiting_.back();
            waiting_.pop_back();
            component_[static_cast<size_t>(member)] = next_component_;
        } while (member != e_class);
        ++next_component_;
    }

    const Instance& instance_;
    std::vector<int> number_, low_, component_, waiting_;
    std::vector<Frame> open_;
    int next_number_ = 0, next_component_ = 0;
};

}  // namespace

std::vector<int> components(const Instance& instance, const std::vector<int>& classes) {
    Search search(instance);
    for (const int e_class : classes) search.from(e_class);
    return search.take();
}

}  // namespace tessera::extraction
