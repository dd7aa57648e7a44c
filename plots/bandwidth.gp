# plots/bandwidth.gp: bus bandwidth (left) and time (right, thin) against size. Before it come heading, blocks (1 to 6), and
# for each of six the words array_word_N and the data $blockN: bytes, us, GB/s.
set title heading font 'sans-serif,14' tc rgb '#111111'
set logscale x 2
set logscale y2 10
set format x '%.0b %BB'
set xtics rotate by -35 left scale 0.6 tc rgb '#333333'
set ytics nomirror scale 0.6 tc rgb '#333333'
set y2tics scale 0.6 tc rgb '#8a8a8a'
set yrange [0:*]
set xlabel 'size' tc rgb '#333333'
set ylabel 'bus bandwidth (GB/s)' tc rgb '#333333'
set y2label 'time (us)' tc rgb '#8a8a8a'
set grid xtics ytics lt 1 lw 0.5 lc rgb '#40808080'
set border 11 lc rgb '#666666'
set key top left Left reverse samplen 2 font 'sans-serif,11'
colour(i) = word('#4a86cc #df9626 #3d9970 #b5523b #7d5ba6 #5c6b73', i)
label(i) = i == 1 ? array_word_1 : i == 2 ? array_word_2 : i == 3 ? array_word_3 : i == 4 ? array_word_4 : i == 5 ? array_word_5 : array_word_6
plot $block1 using 1:3 with linespoints lw 2 pt 7 ps 0.8 lc rgb colour(1) title array_word_1, \
     for [i = 2:blocks] '$block'.i using 1:3 with linespoints lw 2 pt 7 ps 0.8 lc rgb colour(i) title label(i), \
     for [i = 1:blocks] '$block'.i using 1:2 axes x1y2 with lines lw 1 dt 2 lc rgb '#7a7a7a' title (i == 1 ? 'time' : '')
