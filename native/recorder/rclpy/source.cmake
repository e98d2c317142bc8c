# Writes the Python file FROM into TO, as the C string rclpy_callbacks_source.
file(READ "${FROM}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE "${TO}" "extern const char rclpy_callbacks_source[];\nconst char rclpy_callbacks_source[] = {${bytes}0};\n")
