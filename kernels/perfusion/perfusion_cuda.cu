#include <cstddef>
#include <optional>
#include <stdexcept>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/output_buffers.cuh"
#include "kernels/perfusion/converter.hpp"
#include "kernels/perfusion/cuda_fit.cuh"
#include "kernels/perfusion/finisher.hpp"
#include "kernels/perfusion/linear_fitter.hpp"
#include "kernels/perfusion/paper/block_fft_cuda.cuh"
#include "kernels/perfusion/perfusion.hpp"
#include "kernels/perfusion/start_list.hpp"
#include "kernels/perfusion/start_search.hpp"

namespace voxherd::perfusion {

/// Rows of floats, one per thread, copied to shared memory by the complete block.
struct shared_tile {
  float* floats;  ///< [row][stride]
  int stride;

  __device__ shared_tile(std::byte* shared, int row_floats)
      : floats(reinterpret_cast<float*>(shared)), stride(odd_stride(row_floats)) {}

  __device__ float* row() const { return floats + static_cast<int>(threadIdx.x) * stride; }

  template <class Copy>
  __device__ void each(int rows, int row_floats, const Copy& copy) const {
    for (int r = static_cast<int>(threadIdx.x / 32); r < rows; r += static_cast<int>(blockDim.x / 32))
      for (int c = static_cast<int>(threadIdx.x % 32); c < row_floats; c += 32) copy(r, c);
  }
  __device__ void load(const float* from, int rows, int row_floats) const {
    each(rows, row_floats,
         [&](int r, int c) { begin_copy(floats + r * stride + c, from + std::size_t(r) * row_floats + c); });
    end_copies();
    __syncthreads();
  }
  __device__ void save(float* to, int rows, int row_floats) const {
    __syncthreads();
    each(rows, row_floats, [&](int r, int c) { to[std::size_t(r) * row_floats + c] = floats[r * stride + c]; });
  }
};

__device__ inline int rows_of_block(std::size_t count) {
  const std::size_t left = count - std::size_t{blockIdx.x} * blockDim.x;
  return left < blockDim.x ? static_cast<int>(left) : static_cast<int>(blockDim.x);
}

/// Largest shared memory of a block on the calling thread's GPU.
inline std::size_t shared_memory_bytes() {
  int ordinal = 0, bytes = 0;
  VOXHERD_CUDA_CHECK(cudaGetDevice(&ordinal));
  VOXHERD_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal));
  return static_cast<std::size_t>(bytes);
}

/// Threads of a block whose rows fit into shared memory together with `more` bytes.
inline unsigned tile_threads(int row_floats, std::size_t more) {
  const std::size_t room = shared_memory_bytes();
  for (unsigned threads : {128u, 64u, 32u})
    if (threads * static_cast<std::size_t>(odd_stride(row_floats)) * sizeof(float) + more <= room) return threads;
  throw std::invalid_argument("perfusion: series of more frames than a GPU's shared memory has room for");
}

/// Launches a kernel with one thread per voxel and a shared_tile after `more` bytes of shared memory.
template <class Kernel, class... Arguments>
void launch_tiles(Kernel kernel, std::size_t count, int row_floats, std::size_t more, cudaStream_t stream,
                  const Arguments&... arguments) {
  const unsigned threads = tile_threads(row_floats, more);
  const std::size_t bytes = more + threads * static_cast<std::size_t>(odd_stride(row_floats)) * sizeof(float);
  launch_items(kernel, count, threads, {threads, bytes}, stream, arguments...);
}

namespace {

template <class Tissue>
__global__ void linear_kernel(const __grid_constant__ linear_fitter<Tissue, double> fitter,
                              const __grid_constant__ fit_arrays a) {
  extern __shared__ __align__(16) std::byte shared[];
  const shared_tile tile(shared, a.frames);
  const int rows = rows_of_block(a.count);
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x, voxel = first + threadIdx.x;
  tile.load(a.samples + first * static_cast<std::size_t>(a.frames), rows, a.frames);
  if (static_cast<int>(threadIdx.x) < rows) keep_linear_fit(fitter({tile.row(), 1}), 0, a, voxel);
}

/// The linear fit, one voxel per thread.
template <class Tissue>
class cuda_linear {
 public:
  cuda_linear(const time_course& t, const fit_settings& s, cudaStream_t stream)
      : table_(t, given_delays<Tissue>(s)),
        values_(copied(table_.values().data(), table_.values().size(), stream)),
        counts_(copied(table_.counts().data(), table_.counts().size(), stream)),
        fitter_(table_.view_of(values_.data(), counts_.data()), s) {}

  void launch(const fit_arrays& a, cudaStream_t stream) const {
    launch_tiles(linear_kernel<Tissue>, a.count, a.frames, 0, stream, fitter_, a);
  }

 private:
  linear_table table_;
  device_buffer<double> values_;
  device_buffer<std::uint8_t> counts_;
  linear_fitter<Tissue, double> fitter_;
};

/// Converts signals to concentrations and finds the starts of each voxel's fits.
template <class Tissue>
struct prepare_job {
  fit_arrays arrays;
  voxel_converter converter;
  const float* rows;
  int row_floats;
  bool searches;
  start_table_view table;
  double start[max_starts][parameter_count<Tissue>];
};

template <class Tissue>
__global__ void prepare_kernel(const __grid_constant__ prepare_job<Tissue> job) {
  extern __shared__ __align__(16) std::byte shared[];
  const fit_arrays& a = job.arrays;
  const shared_tile tile(shared, job.row_floats);
  const int rows = rows_of_block(a.count);
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x, voxel = first + threadIdx.x;
  tile.load(job.rows + first * static_cast<std::size_t>(job.row_floats), rows, job.row_floats);
  if (static_cast<int>(threadIdx.x) < rows) {
    const converted c = job.converter(signal_row{tile.row(), 1}.limited_to(std::size_t(job.row_floats)), tile.row(), 1);
    a.status[voxel] = static_cast<std::uint8_t>(c.status);
    a.t1_s[voxel] = static_cast<float>(c.t1_s);
    a.S0[voxel] = static_cast<float>(c.S0);
    const bool searches = has_papers_convolutions<Tissue> && job.searches;
    if constexpr (has_papers_convolutions<Tissue>)
      if (searches)
        with_start_search<float>(job.table, a.starts, [&](const auto& search) {
          search(voxel_samples{tile.row(), 1}, a.starts, a.p + voxel, a.count);
        });
    for (int start = 0; start < (searches ? 0 : a.starts); ++start)
      for (int i = 0; i < parameter_count<Tissue>; ++i)
        a.p[place_of_parameter(a, start, i, voxel)] = job.start[start][i];
  }
  tile.save(a.samples + first * static_cast<std::size_t>(a.frames), rows, a.frames);
}

template <class Tissue, class Model>
__global__ void finish_kernel(const __grid_constant__ cuda_fit_job<typename Model::scalar, parameter_count<Tissue>> job,
                              const __grid_constant__ output_arrays_of<Tissue> out) {
  constexpr int count = parameter_count<Tissue>;
  using scalar = typename Model::scalar;
  extern __shared__ __align__(16) std::byte shared[];
  const fit_arrays& a = job.arrays;
  const curves_view<scalar> curves = shared_curves<scalar>::copy(job.curves, job.values, job.value_count, shared);
  const shared_tile tile(shared + shared_curves<scalar>::bytes(job.value_count, a.frames), a.frames);
  const int rows = rows_of_block(a.count);
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x, voxel = first + threadIdx.x;
  tile.load(a.samples + first * static_cast<std::size_t>(a.frames), rows, a.frames);
  if (static_cast<int>(threadIdx.x) >= rows) return;
  if (a.status[voxel] != 0) return store_nothing<Tissue>(out, voxel, a.status[voxel]);
  const int best = best_start(a, voxel);
  scalar p[count];
  VOXHERD_UNROLL
  for (int i = 0; i < count; ++i) p[i] = static_cast<scalar>(a.p[place_of_parameter(a, best, i, voxel)]);
  const Model model(curves);
  const auto j = judge<Tissue, Model, scalar>(model, curves, job.limits)(p, {tile.row(), 1});
  if (j.singular) return store_nothing<Tissue>(out, voxel, static_cast<std::uint8_t>(voxel_status::singular));
  store_fit<Tissue>(p, j, 0, out, voxel);
  store_facts<Tissue>(a, voxel, out, voxel);
}

template <class Tissue, class Scalar>
class cuda_fitter final : public fitter {
 public:
  static constexpr int count = parameter_count<Tissue>;
  using fit_job = cuda_fit_job<Scalar, count>;

  cuda_fitter(const time_course& t, const conversion& convert, const fit_settings& s)
      : settings_(s),
        table_(t),
        start_list_(list_starts<Tissue>(s)),
        limits_(s),
        values_(copied(table_.values().data(), table_.values().size(), stream_)),
        counts_(copied(table_.counts().data(), table_.counts().size(), stream_)),
        scratch_(scratch_floats(static_cast<int>(t.frames()))),
        next_item_(1),
        converter_(convert, static_cast<int>(t.frames()), counts_.data()),
        frames_(static_cast<int>(t.frames())),
        row_floats_(frames_ + convert.extras()) {
    if (s.convolution == convolution_kind::block_fft) block_fft_.emplace(frames_, stream_);
    if constexpr (is_washout<Tissue>)
      if (s.solver == solver_kind::linear) linear_.emplace(t, s, stream_);
    if constexpr (has_papers_convolutions<Tissue>)
      if (s.starts > 0) dictionary_.emplace(t, s);
    if (dictionary_) start_values_ = copied(dictionary_->values().data(), dictionary_->values().size(), stream_);
    stream_.wait();
  }

  void fit(std::size_t voxels, const float* rows, std::span<void* const> out) override {
    seconds_ = 0;
    if (voxels == 0) return;
    reserve(voxels);
    output_arrays_of<Tissue> wanted, results;
    std::copy_n(out.begin(), wanted.count, wanted.array);
    results_.reserve(voxels, wanted.array, results.array);
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(rows_.data(), rows,
                                       voxels * static_cast<std::size_t>(row_floats_) * sizeof(float),
                                       cudaMemcpyHostToDevice, stream_));
    before_.record(stream_);
    const fit_job job = job_for(arrays_for(voxels));
    prepare(job.arrays);
    fit_items(job);
    finish(job, results);
    after_.record(stream_);
    results_.fetch(voxels, results.array, wanted.array, stream_);
    stream_.wait();
    seconds_ = after_.seconds_since(before_);
  }

  void release_memory() override {
    rows_ = {}, floats_ = {};
    doubles_ = {};
    numbers_ = {};
    bytes_ = {};
    results_.release();
  }

  double device_seconds() const override { return seconds_; }

 private:
  int starts() const { return std::max(1, settings_.starts); }

  void reserve(std::size_t voxels) {
    const auto n = static_cast<std::size_t>(starts());
    rows_.reserve(voxels * static_cast<std::size_t>(row_floats_));
    floats_.reserve(voxels * fit_arrays::floats_per_voxel(frames_));
    doubles_.reserve(voxels * fit_arrays::doubles_per_voxel(starts(), count));
    numbers_.reserve(voxels * n);
    bytes_.reserve(voxels * (n + 1));
  }

  /// The stages' arrays in device memory.
  fit_arrays arrays_for(std::size_t voxels) const {
    const auto n = static_cast<std::size_t>(starts());
    fit_arrays a;
    a.count = voxels;
    a.frames = frames_;
    a.starts = starts();
    a.parameters = count;
    a.samples = floats_.data();
    a.t1_s = a.samples + voxels * static_cast<std::size_t>(frames_);
    a.S0 = a.t1_s + voxels;
    a.p = doubles_.data();
    a.cost = a.p + count * n * voxels;
    a.iterations = numbers_.data();
    a.status = bytes_.data();
    a.exit_code = a.status + voxels;
    return a;
  }

  fit_job job_for(const fit_arrays& a) const {
    return {a,
            table_.view_of(values_.data(), counts_.data()),
            values_.data(),
            static_cast<int>(table_.read_values()),
            limits_,
            scratch_.data(),
            next_item_.data()};
  }

  void prepare(const fit_arrays& a) {
    prepare_job<Tissue> job{a, converter_, rows_.data(), row_floats_, dictionary_.has_value(), {}, {}};
    if (dictionary_) job.table = dictionary_->view_of(start_values_.data());
    std::copy(start_list_.begin(), start_list_.end(), &job.start[0][0]);
    launch_tiles(prepare_kernel<Tissue>, a.count, row_floats_, 0, stream_, job);
  }

  void fit_items(const fit_job& job) {
    using kind = solver_kind;
    if constexpr (is_washout<Tissue>)
      if (linear_) return linear_->launch(job.arrays, stream_);
    if constexpr (is_double<Scalar> && has_papers_convolutions<Tissue>)
      if (block_fft_) return block_fft_->launch(job, stream_);
    if (settings_.solver == kind::simplex) return launch_fits<Tissue, kind::simplex>(settings_, job, stream_);
    if constexpr (is_double<Scalar> && is_washout<Tissue>)
      if (settings_.solver == kind::varpro) return launch_fits<Tissue, kind::varpro>(settings_, job, stream_);
    launch_fits<Tissue, kind::lm>(settings_, job, stream_);
  }

  void finish(const fit_job& job, const output_arrays_of<Tissue>& results) {
    const std::size_t curves = shared_curves<Scalar>::bytes(job.value_count, frames_);
    with_model<Tissue, Scalar>(settings_, job.curves.spacing_s > 0, [&]<class Model>() {
      launch_tiles(finish_kernel<Tissue, Model>, job.arrays.count, frames_, curves, stream_, job, results);
    });
  }

  cuda_stream stream_;
  fit_settings settings_;
  curves_table<Scalar> table_;
  std::vector<double> start_list_;  ///< [start][parameter]
  fit_limits<Scalar, count> limits_;
  device_buffer<Scalar> values_;
  device_buffer<std::uint8_t> counts_;
  device_buffer<four_floats> start_values_;
  device_buffer<float> scratch_;
  device_buffer<unsigned long long> next_item_;
  std::optional<cuda_block_fft> block_fft_;    ///< for that convolution
  std::optional<cuda_linear<Tissue>> linear_;  ///< for that solver
  std::optional<start_table> dictionary_;
  voxel_converter converter_;
  int frames_, row_floats_;
  device_buffer<float> rows_, floats_;
  device_buffer<double> doubles_;
  device_buffer<std::uint32_t> numbers_;
  device_buffer<std::uint8_t> bytes_;
  output_buffers<output_arrays_of<Tissue>::count> results_{output_widths<model_outputs<Tissue>>()};
  cuda_event before_, after_;
  double seconds_ = 0;
};

}  // namespace

std::unique_ptr<fitter> make_fitter_cuda(const time_course& frames, const conversion& convert,
                                         const fit_settings& settings) {
  std::unique_ptr<fitter> made;
  with_tissue(*settings.model, [&]<class Tissue>() {
    if (settings.precision == precision_kind::float32)
      made = std::make_unique<cuda_fitter<Tissue, float>>(frames, convert, settings);
    else
      made = std::make_unique<cuda_fitter<Tissue, double>>(frames, convert, settings);
  });
  return made;
}

}  // namespace voxherd::perfusion
