import { program } from './videos.ts'
import { short } from '../short.ts'

await short('videos', program)
