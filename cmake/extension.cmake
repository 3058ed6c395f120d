# The extension module hotloop._hotloop for the Python that CMake finds (-DPython_EXECUTABLE=... chooses one).
find_package(Python 3.12 REQUIRED COMPONENTS Interpreter Development.Module NumPy)
if(Python_NumPy_VERSION VERSION_LESS 2.0)
  message(FATAL_ERROR "hotloop needs NumPy >= 2.0; ${Python_EXECUTABLE} has ${Python_NumPy_VERSION}")
endif()
file(GLOB python_accessors CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cpython/v3${Python_VERSION_MINOR}.c*)
if(NOT python_accessors)
  message(FATAL_ERROR "hotloop does not support Python ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR} yet (no src/cpython/v3${Python_VERSION_MINOR}.*): use 3.12 or 3.13")
endif()
file(GLOB extension_sources CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/src/cpython/*.c ${CMAKE_SOURCE_DIR}/src/cpython/*.cpp
  ${CMAKE_SOURCE_DIR}/src/runtime/*.cpp ${CMAKE_SOURCE_DIR}/src/tracer/*.cpp ${CMAKE_SOURCE_DIR}/pymodule/*.cpp)
python_add_library(_hotloop MODULE WITH_SOABI ${extension_sources} ${HOTLOOP_ASMJIT_SHIM})
target_include_directories(_hotloop PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/pymodule)
target_compile_definitions(_hotloop PRIVATE
  HOTLOOP_VERSION="${HOTLOOP_VERSION}" NPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION NPY_TARGET_VERSION=NPY_2_0_API_VERSION)
target_link_libraries(_hotloop PRIVATE hotloop_core Python::NumPy)
install(TARGETS _hotloop DESTINATION hotloop)
