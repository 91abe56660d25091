// CRC-32, which node itself has from 20.15 on.
const TABLE = Int32Array.from({ length: 256 }, (_, i) => {
  for (let bit = 0; bit < 8; ++bit) i = i & 1 ? (i >>> 1) ^ 0xEDB88320 : i >>> 1;
  return i;
});
function crc32(bytes, crc = 0) {
  crc = ~crc;
  for (let i = 0; i < bytes.length; ++i) crc = TABLE[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}
module.exports = { crc32: require('zlib').crc32 ?? crc32 };
